import type { Run } from '../context.js'
import { eventOf, readerOf } from '../names.js'

export const run: Run = async (context, [name = ''], options) => {
  const reader = await readerOf(context, name)
  const { at } = await eventOf(reader, options.text('at'))
  const store = await context.store()
  const { session, unknownTypes } = await store.fork(reader.id, at)
  if (unknownTypes.length > 0)
    await context.warn(
      `copied as they are: events of types this version does not know: ${unknownTypes.join(', ')}`,
    )
  await (context.json ? context.out.json({ session }) : context.out.line(session))
  return undefined
}
