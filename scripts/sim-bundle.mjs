// @ts-check
/** Bundles the simulation, with or without a mistake put into the engine (test/sim/mutants.ts). */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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

/** Node deflates in threads, in their own time: here it is done at once. @type {import('esbuild').Plugin} */
const deflatingAtOnce = {
  name: 'deflating-at-once',
  setup(plugin) {
    plugin.onResolve({ filter: /^node:zlib$/ }, ({ path, namespace }) =>
      namespace === 'at-once' ? { path, external: true } : { path, namespace: 'at-once' },
    )
    plugin.onLoad({ filter: /.*/, namespace: 'at-once' }, () => ({
      contents: `
        import { Transform } from 'node:stream'
        import { crc32, deflateSync, inflateSync } from 'node:zlib'
        export { crc32, deflateSync, inflateSync }
        export const createDeflate = () => {
          const parts = []
          return new Transform({
            transform: (part, _, done) => { parts.push(part); done() },
            flush(done) { this.push(deflateSync(Buffer.concat(parts))); done() },
          })
        }
        export const createInflate = () => {
          const parts = []
          return new Transform({
            transform(part, _, done) {
              parts.push(part)
              try {
                this.push(inflateSync(Buffer.concat(parts)))
                this.push(null)
              } catch (error) {
                if (error.code !== 'Z_BUF_ERROR') return done(error)
              }
              done()
            },
          })
        }`,
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

/**
 * Bundles a program of test/sim or test/fuzz into a folder of its own; `remove` takes it away.
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
    await build({
      absWorkingDir: root,
      entryPoints: [join(root, entry)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      mainFields: ['module', 'main'],
      external: ['fs-native-extensions', 'node-sqlite3-wasm'],
      // Names of files hold it: the same on every machine.
      define: { 'process.pid': '4242' },
      plugins: [withoutGit, deflatingAtOnce, ...(mutant === undefined ? [] : [withMistake(mutant)])],
      banner: {
        js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
      },
      logLevel: 'silent',
    })
  } catch (error) {
    remove()
    throw error
  }
  return { path: outfile, remove }
}
