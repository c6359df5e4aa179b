// @ts-check
/**
 * `npm run test:resume [-- claude codex pi]`: carries sessions to other agents and has those go on with them, as they are
 * published, each with a server of our own in the place of its model. Installs them from the registry, outside the
 * project; so it is no part of `npm test`.
 */
import { ensureBuilt } from '../built.mjs'

const all = ['claude', 'codex', 'pi']
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no agent ${unknown.join(', ')}: known are ${all.join(', ')}\n`)
  process.exit(2)
}
if (!ensureBuilt()) process.exit(1)

for (const name of wanted.length > 0 ? wanted : all) {
  try {
    /** @type {{ check: () => Promise<string> }} */
    const { check } = await import(`./${name}.mjs`)
    process.stdout.write(`${await check()}\n`)
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
