// @ts-check
/**
 * One of several processes that race: `racer.mjs FOLDER SESSION NAME` appends one line at the tail that each line of stdin
 * names, with the built library, and says whether it was taken.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder = '', session = '', name = ''] = process.argv.slice(2)
/** @type {typeof import('../../src/index.js')} */
const { fileLog, encodeLine, systemPorts } = await import(
  pathToFileURL(process.env.COPPICE_LIBRARY ?? '').href
)

const log = fileLog({ ...systemPorts, folder })
/** @param {Record<string, unknown>} what */
const say = (what) => writeSync(1, `${JSON.stringify(what)}\n`)

say({ ready: true })
let round = 0
for await (const tail of createInterface({ input: process.stdin })) {
  const at = new Date(Date.UTC(2026, 11, 1) + ++round).toISOString()
  const line = encodeLine(
    { parent: tail, at, type: 'message', note: false },
    { role: 'user', content: `${name} ${round}` },
  )
  const made = await log.append(session, tail, [line])()
  if (made._tag === 'Right') say({ id: line.id })
  else say({ tag: made.left.tag, ...made.left.toJSON() })
}
log.close()
