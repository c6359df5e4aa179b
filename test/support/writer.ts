/**
 * A process that appends to a log, one message after the other, and prints the id of each once it is acked:
 * `writer FOLDER SESSION NAME COUNT`. Where another process came first it looks at the log's end and goes on from there.
 */
import { writeSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import { StaleTail } from '../../src/events/errors/index.js'
import { fileLog } from '../../src/events/file-log/file-log.js'
import { encodeLine } from '../../src/events/line.js'
import { systemPorts } from '../../src/events/system.js'

const [folder, session, name, count] = process.argv.slice(2) as [string, string, string, string]
const log = fileLog({ ...systemPorts, folder })

const lastId = async (): Promise<string> => {
  for await (const [line] of log.readBackward(session)) if (line !== undefined) return line.id
  throw new Error('no event')
}

let tail = await lastId()
for (let i = 0; i < Number(count); ) {
  const line = encodeLine(
    { parent: session, at: new Date().toISOString(), type: 'message', note: false },
    { role: 'user', content: `${name} ${i}` },
  )
  const appended = await log.append(session, tail, [line])()
  if (E.isRight(appended)) {
    tail = appended.right.tail
    writeSync(1, `${line.id}\n`)
    i++
  } else if (appended.left instanceof StaleTail && appended.left.actual !== null) {
    tail = appended.left.actual
  } else {
    throw appended.left
  }
}
log.close()
