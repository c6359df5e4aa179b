// @ts-check
/**
 * One cell in a fresh process: `node --expose-gc child.mjs MODULE FUNCTION ARGUMENTS-AS-JSON` calls the function and
 * prints what it gives, with the process's peak of memory where the cell gives none.
 */
import { peakMiB } from './memory.mjs'

const [module = '', name = '', json = '{}'] = process.argv.slice(2)
const cell = (await import(new URL(module, import.meta.url).href))[name]
const reading = await cell(JSON.parse(json))
process.stdout.write(JSON.stringify({ peakMiB: peakMiB(), ...reading }), () => process.exit(0))
