// @ts-check
/** The library as it was built, with the types of its source: this file is checked also where nothing was built yet. */
const built = new URL('../dist/', import.meta.url)

/** @type {typeof import('../src/index.js')} */
export const coppice = await import(new URL('index.js', built).href)

/** Loads what the store else loads when it is first asked for: libraries are loaded outside every time. */
export async function loadAll() {
  for (const name of ['opening', 'creating', 'verify'])
    await import(new URL(`session/${name}.js`, built).href)
}
