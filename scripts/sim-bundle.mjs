// @ts-check
/** Bundles the simulation, with or without a mistake put into the engine (test/sim/mutants.ts). */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * A mistake: in a file of src/, `from` becomes `to`.
 * @typedef {{ readonly name: string, readonly file: string, readonly from: string, readonly to: string }} Mutant
 */

/** No run asks git about a folder that is not there: another process takes its own time. @type {import('esbuild').Plugin} */
const withoutGit = {
  name: 'without-other-processes',
  setup(plugin) {
    plugin.onResolve({ filter: /^(node:)?child_process$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    plugin.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: `
        export const execFile = (...args) => args.at(-1)(new Error('left out of the simulation'))
        export const spawn = () => { throw new Error('left out of the simulation') }`,
    }))
  },
}

/**
 * Node deflates in threads and pumps streams in turns of its own: here all of it is done at once, with nothing but promises.
 * @type {import('esbuild').Plugin}
 */
const deflatingAtOnce = {
  name: 'deflating-at-once',
  setup(plugin) {
    plugin.onResolve({ filter: /^node:(zlib|stream\/promises)$/ }, ({ path, namespace }) =>
      namespace === 'at-once' ? { path, external: true } : { path, namespace: 'at-once' },
    )
    plugin.onLoad({ filter: /zlib$/, namespace: 'at-once' }, () => ({
      contents: `
        import { crc32, deflateSync, inflateSync } from 'node:zlib'
        export { crc32, deflateSync, inflateSync }
        export const createDeflate = () => deflateSync
        export const createInflate = () => {
          const parts = []
          let result = null
          let failure = null
          let ended = () => {}
          return {
            once: (_, then) => { ended = then },
            write: (part, then) => {
              parts.push(part)
              try {
                result = inflateSync(Buffer.concat(parts))
                ended()
              } catch (error) {
                if (error.code !== 'Z_BUF_ERROR') failure = error
              }
              if (result === null && failure === null) then(null)
            },
            end: () => { failure = Object.assign(new Error('unexpected end of file'), { code: 'Z_BUF_ERROR' }) },
            destroy: (error) => { failure ??= error ?? null },
            [Symbol.asyncIterator]: async function* () {
              if (result === null) throw failure
              if (result.length > 0) yield result
            },
          }
        }`,
    }))
    plugin.onLoad({ filter: /promises$/, namespace: 'at-once' }, () => ({
      contents: `
        export const pipeline = async (source, transform, sink) => {
          const parts = []
          for await (const part of source()) parts.push(part)
          await sink((async function* () { yield transform(Buffer.concat(parts)) })())
        }`,
    }))
  },
}

/** A promise of Node's own goes on in another realm than that of the process. @type {import('esbuild').Plugin} */
const promisingInRealm = {
  name: 'promising-in-the-realm',
  setup(plugin) {
    plugin.onResolve({ filter: /^node:util$/ }, ({ path, namespace }) =>
      namespace === 'in-realm' ? { path, external: true } : { path, namespace: 'in-realm' },
    )
    plugin.onLoad({ filter: /.*/, namespace: 'in-realm' }, () => ({
      contents: `
        export * from 'node:util'
        export const promisify = (call) => (...args) => new Promise((resolve, reject) =>
          call(...args, (error, value) => error ? reject(error) : resolve(value)))`,
    }))
  },
}

/**
 * SQLite reads and writes by itself, past the port: test/sim/index-database.ts stands for it, on the simulated disk.
 * @type {import('esbuild').Plugin}
 */
const withSimulatedIndex = {
  name: 'with-a-simulated-index',
  setup(plugin) {
    plugin.onResolve({ filter: /\/database\.js$/ }, ({ importer }) =>
      importer === join(root, 'src/session/search/index-file.ts')
        ? { path: join(root, 'test/sim/index-database.ts') }
        : undefined,
    )
    plugin.onLoad({ filter: /session\/search\/index-file\.ts$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8')
      for (const [from, to] of /** @type {const} */ ([
        ['home.ports.fs.readFile === systemPorts.fs.readFile', 'home !== undefined'],
        ['new IndexDatabase(this.#path, !isWhole)', 'new IndexDatabase(this.#path, !isWhole, fs)'],
      ])) {
        if (!contents.includes(from)) throw new Error(`${path} does not hold ${from}`)
        contents = contents.replace(from, to)
      }
      return { contents, loader: 'ts' }
    })
  },
}

/** What a machine is called differs: its name is in files. @type {import('esbuild').Plugin} */
const onOneMachine = {
  name: 'on-one-machine',
  setup(plugin) {
    plugin.onResolve({ filter: /^node:os$/ }, ({ path }) => ({ path, namespace: 'one-machine' }))
    plugin.onLoad({ filter: /.*/, namespace: 'one-machine' }, () => ({
      contents: `
        export const hostname = () => 'machine'
        export const homedir = () => '/root'
        export const tmpdir = () => '/tmp'`,
    }))
  },
}

/** @param {Mutant} mutant @returns {import('esbuild').Plugin} */
const withMistake = ({ name, file, from, to }) => ({
  name: 'with-a-mistake',
  setup(plugin) {
    plugin.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path !== join(root, file)) return undefined
      const text = readFileSync(path, 'utf8')
      if (!text.includes(from))
        throw new Error(`mutant ${name}: ${file} does not hold ${JSON.stringify(from)}`)
      return { contents: text.replace(from, () => to), loader: 'ts' }
    })
  },
})

const banner =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);"

/**
 * Bundles a program of test/sim or test/fuzz into a folder of its own; `remove` takes it away. Where a program.ts stands
 * beside it, that is bundled too, as the script program.js that sets the global `program`.
 * @param {string} entry
 * @param {Mutant} [mutant]
 */
export async function bundled(entry, mutant) {
  const parent = join(root, 'node_modules')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, '.coppice-sim-'))
  const outfile = join(folder, 'main.mjs')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const program = join(root, dirname(entry), 'program.ts')
    const isSimulation = existsSync(program)
    /** @type {import('esbuild').BuildOptions} */
    const options = {
      absWorkingDir: root,
      bundle: true,
      platform: 'node',
      target: 'node20',
      mainFields: ['module', 'main'],
      external: ['fs-native-extensions', 'node-sqlite3-wasm'],
      // Names of files hold it: the same on every machine.
      define: { 'process.pid': '4242' },
      plugins: [
        withoutGit,
        ...(isSimulation ? [deflatingAtOnce, promisingInRealm, withSimulatedIndex, onOneMachine] : []),
        ...(mutant === undefined ? [] : [withMistake(mutant)]),
      ],
      logLevel: 'silent',
    }
    const main = { entryPoints: [join(root, entry)], outfile, banner: { js: banner } }
    await build({ ...options, ...main, format: 'esm' })
    if (isSimulation) {
      const inRealm = { 'import.meta.url': JSON.stringify(pathToFileURL(program).href) }
      await build({
        ...options,
        entryPoints: [program],
        outfile: join(folder, 'program.js'),
        format: 'iife',
        globalName: 'program',
        define: { ...options.define, ...inRealm },
      })
    }
  } catch (error) {
    remove()
    throw error
  }
  return { path: outfile, remove }
}
