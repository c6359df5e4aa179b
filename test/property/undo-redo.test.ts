import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { context } from '../../src/projections/context.js'
import { messages } from '../../src/projections/messages.js'
import { redoTargets } from '../../src/projections/redo-targets.js'
import { fold, replay } from '../../src/projections/replay.js'
import { viewUndoTargets } from '../../src/projections/undo-targets.js'
import type { LogWriter } from '../../src/testing/log-writer.js'
import { historyArbitrary, runs } from './arbitraries.js'

const shown = (log: LogWriter) => ({
  messages: messages.view(replay(messages, log.events)).messages,
  context: context.view(replay(context, log.events)),
})

const redosOf = (log: LogWriter): readonly string[] =>
  redoTargets.view(fold(redoTargets, log.events)).map(({ to }) => to)

describe('undo and redo', () => {
  it('undo, any number of times, and redo as often is the identity on messages and context', () => {
    fc.assert(
      fc.property(
        historyArbitrary(),
        fc.array(fc.nat(1000), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (history, picks, isNoisy) => {
          const { log } = history
          const before = [shown(log)]
          for (const pick of picks) {
            const targets = viewUndoTargets(replay(messages, log.events), { all: true })
            const target = targets[pick % Math.max(1, targets.length)]
            const parent = target === undefined ? null : log.event(target.id)?.parent
            if (parent === null || parent === undefined) break
            log.move('undo', parent)
            if (isNoisy) log.write('checkpoint', { reason: 'manual', commit: 'c' })
            before.push(shown(log))
          }
          for (let n = before.length - 2; n >= 0; n--) {
            const [to] = redosOf(log)
            expect(redosOf(log).length).toBeGreaterThan(n)
            log.move('redo', to ?? '')
            deepStrictEqual(shown(log).context, before[n]?.context)
            deepStrictEqual(shown(log).messages, before[n]?.messages)
          }
        },
      ),
      runs(200),
    )
  })

  it('a message after an undo leaves nothing to redo', () => {
    fc.assert(
      fc.property(historyArbitrary(), ({ log }) => {
        log.move('undo', log.path()[0]?.id ?? '')
        expect(redosOf(log).length).toBeGreaterThan(0)
        log.message('user', 'something else')
        expect(redosOf(log)).toEqual([])
      }),
      runs(100),
    )
  })

  it('a compaction, then an undo past it, brings the full history back', () => {
    fc.assert(
      fc.property(historyArbitrary(), fc.nat(1000), ({ log }, pick) => {
        const prompt = log.message('user', 'the prompt that is taken back')
        const before = {
          messages: messages.view(replay(messages, log.events, prompt.parent ?? '')),
          context: context.view(replay(context, log.events, prompt.parent ?? '')),
        }
        const path = log.path()
        log.write('compaction', {
          summary: 's',
          through: path[pick % path.length]?.id,
          tokensBefore: 2,
          tokensAfter: 1,
        })
        log.message('assistant', 'on it')
        log.move('undo', prompt.parent ?? '')
        deepStrictEqual(shown(log), { messages: before.messages.messages, context: before.context })
      }),
      runs(200),
    )
  })
})
