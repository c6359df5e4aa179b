import { test } from 'vitest'
import { formats } from '../../src/formats/registry.js'
import { eventsOf, itemsOf, payloadOf } from './check-items.js'
test('x', async () => {
  for (const f of formats) for (const s of await f.find('samples')) {
    console.log(s)
    for (const i of await itemsOf(f, s)) console.log(i.kind === 'event' ? `${(i.parent ?? '·').slice(0, 10)} -> ${i.key.slice(0, 10)}${i.key.includes('#')?'#':''} ${i.type} ${String(JSON.stringify(payloadOf(i))).slice(0, 90)}` : JSON.stringify(i).slice(0, 200))
  }
})
