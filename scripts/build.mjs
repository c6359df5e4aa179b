// @ts-check
/**
 * Builds dist/: the library and the command line (esbuild: small entries, and chunks that load on use; what they need is
 * bundled in, since hundreds of small modules take longer to find than to run), and the library's types (tsc). Everything
 * is made in a folder beside dist/ and then renamed into place, so that a failed build leaves the last good one, and a
 * program that runs from dist/ never meets half of it.
 */
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { builtEntry, dist, root } from './built.mjs'

const cliSource = join(root, 'src/cli/coppice.ts')
const require = createRequire(import.meta.url)

/** The types alone, a file a file. @param {string} outDir @returns {Promise<void>} */
function buildTypes(outDir) {
  const tsc = [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', outDir]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, tsc, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error('tsc: the types do not compile'))))
  })
}

/** fp-ts and io-ts are imported by file, which Node only finds as CommonJS; bundled, their ES modules shake better. */
const fpTsAsEsModules = {
  name: 'fp-ts-as-es-modules',
  /** @param {import('esbuild').PluginBuild} plugin */
  setup(plugin) {
    plugin.onResolve({ filter: /^(fp-ts|io-ts)\/lib\// }, ({ path, ...rest }) =>
      plugin.resolve(path.replace('/lib/', '/es6/'), {
        kind: rest.kind,
        importer: rest.importer,
        resolveDir: rest.resolveDir,
      }),
    )
  },
}

/** commander could run other programs as commands. Ours never does, and Node takes longer to load that than to parse. */
const withoutChildProcess = {
  name: 'commander-without-child-process',
  /** @param {import('esbuild').PluginBuild} plugin */
  setup(plugin) {
    plugin.onResolve({ filter: /^(node:)?child_process$/ }, ({ path, importer }) =>
      /[\\/]commander[\\/]/.test(importer) ? { path, namespace: 'left-out' } : undefined,
    )
    plugin.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/**
 * Secretlint measures itself: its profiler keeps every mark it ever made, in a list that it searches, and `debug` looks at
 * the environment. It also brings a library of cryptography for files that we never have. None of it is wanted.
 */
const secretlintAlone = {
  name: 'secretlint-alone',
  /** @param {import('esbuild').PluginBuild} plugin */
  setup(plugin) {
    plugin.onResolve(
      { filter: /^(@secretlint\/profiler|debug)$|^\.\/index-/ },
      ({ path, importer, kind }) => {
        if (!/[\\/]@secretlint[\\/]/.test(importer)) return undefined
        if (path.startsWith('./') && kind !== 'dynamic-import') return undefined
        return { path, namespace: 'silent' }
      },
    )
    plugin.onLoad({ filter: /.*/, namespace: 'silent' }, () => ({
      contents: 'export const secretLintProfiler = { mark() {} }; export default () => () => {}',
    }))
  },
}

/** What both bundles share. @type {import('esbuild').BuildOptions} */
const bundled = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  mainFields: ['module', 'main'],
  // Native code and WebAssembly cannot be bundled: they are run-time dependencies. fast-check is the user's own.
  external: ['fs-native-extensions', 'node-sqlite3-wasm', 'fast-check'],
  // Names and lines stay readable in traces; minified in full, it measured no faster to start.
  minifySyntax: true,
  legalComments: 'none',
  plugins: [fpTsAsEsModules, withoutChildProcess, secretlintAlone],
  logLevel: 'warning',
}

/** @param {string} outDir */
async function buildLibrary(outDir) {
  const entryPoints = ['src/index.ts', 'src/testing.ts', 'src/secrets.ts'].map((path) => join(root, path))
  await build({ ...bundled, entryPoints, outdir: outDir })
}

/** @param {string} outDir */
async function buildCommandLine(outDir) {
  await build({
    ...bundled,
    entryPoints: [cliSource],
    outdir: outDir,
    // What is bundled as CommonJS calls require for Node's own modules.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  })
  const entry = join(outDir, 'coppice.js')
  const code = readFileSync(entry, 'utf8').replace(/^#!.*\n/, '')
  writeFileSync(entry, `#!/usr/bin/env node\n${code}`)
  chmodSync(entry, 0o755)
}

/** What a report's page is made of: it stands in every page, so it is as small as it gets. @param {string} outDir */
async function buildPage(outDir) {
  const page = join(root, 'src/export/html/page')
  await build({
    absWorkingDir: root,
    entryPoints: [
      { in: join(page, 'main.ts'), out: 'page' },
      { in: join(page, 'page.css'), out: 'page' },
    ],
    outdir: outDir,
    bundle: true,
    minify: true,
    format: 'iife',
    // Where the browser of the year before last is; what is newer than that is looked for before it is used.
    target: ['chrome125', 'firefox128', 'safari17.5'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  })
}

/** @param {string} made */
function putInPlace(made) {
  const old = `${made}-old`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(made, dist)
  rmSync(old, { recursive: true, force: true })
}

const startedAt = new Date()
const making = join(root, `.build-${process.pid}`)
mkdirSync(making)
try {
  const results = await Promise.allSettled([
    buildTypes(making),
    buildLibrary(making),
    buildCommandLine(join(making, 'cli')),
    buildPage(join(making, 'cli/report')),
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
  putInPlace(making)
  // A source that was saved while the build ran is newer than what was built.
  utimesSync(builtEntry, startedAt, startedAt)
  console.log(`built dist/ in ${((Date.now() - startedAt.getTime()) / 1000).toFixed(1)} s`)
} catch (error) {
  console.error(`build: failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
} finally {
  rmSync(making, { recursive: true, force: true })
}
