import { expect } from 'vitest'
import type { Line } from '../../src/events/line.js'
import type { EventLog } from '../../src/events/log.js'
import { logOn, messageOn, readAll, right, rootLine } from './logs.js'
import { MemoryFs } from './memory-fs.js'

export const root = rootLine()
export const path = `/store/${root.id}/data.jsonl`

/** A log as bytes, and the lines in it that are events, with their places. */
export interface State {
  readonly bytes: Buffer
  readonly events: readonly Line[]
}

export const placed = (lines: readonly Line[]): readonly Line[] => {
  let offset = 0
  return lines.map((line) => {
    const at = offset
    offset += line.bytes.length + 1
    return { ...line, offset: at }
  })
}

export const stateOf = (lines: readonly Line[]): State => ({
  bytes: Buffer.concat(lines.flatMap(({ bytes }) => [bytes, Buffer.from('\n')])),
  events: placed(lines),
})

/** `expect(a).toEqual(b)`, at a price that a million states can pay. */
export const mustEqual = (a: unknown, b: unknown): void => {
  if (JSON.stringify(a) !== JSON.stringify(b)) expect(a).toEqual(b)
}

/** What is left of a state after a cut: a line whose last byte is there is an event, with its newline or without. */
export const cutAt = ({ bytes, events }: State, size: number): State => ({
  bytes: bytes.subarray(0, size),
  events: events.filter((line) => line.offset + line.bytes.length <= size),
})

export const fsWith = (bytes: Uint8Array): MemoryFs => {
  const fs = new MemoryFs()
  fs.put(path, bytes)
  return fs
}

const placesOf = (lines: readonly Line[]): readonly string[] =>
  lines.map(({ id, offset }) => `${offset} ${id}`)

/** Forward and backward readers give just the events, and tell of a torn tail by its place where there is one. */
export const mustReadAs = async (log: EventLog, { bytes, events }: State): Promise<void> => {
  const last = events[events.length - 1] as Line
  const end = last.offset + last.bytes.length + 1
  const torn = bytes.length > end ? [{ kind: 'torn-tail', offset: end, bytes: bytes.length - end }] : []
  const forward = await readAll((report) => log.readForward(root.id, { report }))
  const backward = await readAll((report) => log.readBackward(root.id, { report }))
  for (const { error, told } of [forward, backward]) {
    if (error !== null) throw error
    mustEqual(
      told.map(({ kind, offset, bytes }) => ({ kind, offset, bytes })),
      torn,
    )
  }
  mustEqual(placesOf(forward.lines), placesOf(events))
  mustEqual(placesOf(backward.lines), placesOf(events).toReversed())
}

/** Appends to a state as a process that has just begun, and gives the state after it. */
export const appendTo = async (state: State, ms: number, log = ''): Promise<State> => {
  const fs = fsWith(state.bytes)
  const tail = state.events[state.events.length - 1] as Line
  const head = state.events.findLast(({ note }) => !note) as Line
  const { lines } = await right(logOn(fs).append(root.id, tail.id, [messageOn(head.id, ms, log)]))
  const after = { bytes: fs.bytesOf(path), events: [...state.events, ...lines] }
  mustEqual(after.bytes.subarray(0, state.bytes.length).equals(state.bytes), true)
  await mustReadAs(logOn(fs), after)
  return after
}
