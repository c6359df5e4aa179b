import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Bundles a program of the tests for processes of its own. It stands where the native modules are found. */
export const bundled = async (
  name: string,
): Promise<{ readonly path: string; readonly remove: () => void }> => {
  const folder = mkdtempSync(join(root, 'node_modules/.coppice-test-'))
  const path = join(folder, `${name}.mjs`)
  await build({
    entryPoints: [join(root, `test/support/${name}.ts`)],
    outfile: path,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: ['fs-native-extensions'],
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  })
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
