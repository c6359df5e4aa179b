import * as E from 'fp-ts/lib/Either.js'
import { fileLog } from '../../src/events/file-log/file-log.js'
import { encodeLine } from '../../src/events/line.js'
import { systemPorts } from '../../src/events/system.js'
const [folder, session, name, ms, durability] = process.argv.slice(2) as [string,string,string,string,'sync'|'none']
const log = fileLog({ ...systemPorts, folder })
let tail = session, n = 0, stale = 0, max = 0
const end = Date.now() + Number(ms)
while (Date.now() < end) {
  const line = encodeLine({ parent: session, at: new Date().toISOString(), type: 'message', note: false }, { role: 'user', content: name + n })
  const t = performance.now()
  const r = await log.append(session, tail, [line], durability)()
  max = Math.max(max, performance.now() - t)
  if (E.isRight(r)) { tail = r.right.tail; n++ } else { stale++; if ((r.left as any).tag !== 'StaleTail') console.log(r.left.message); else tail = (r.left as any).actual }
}
console.log(name, durability, { n, stale, max: Math.round(max) })
