import { Script } from '../export/script.js'

/** A session with what a report can show: two branches, a compaction, an undo, an image, failures, code, long output. */
export const story = () => {
  const script = new Script()
  script.add('message', { role: 'system', content: 'You are terse.' })
  const first = script.user('List the files, please')
  const usage = { input: 1200, output: 80, cacheRead: 1000, cacheWrite: 0, reasoning: 12, costUsd: 0.0123 }
  const caller = script.call(
    'c1',
    'bash',
    { command: 'ls -la', description: 'List files' },
    {
      reasoning: 'The user wants a list.',
      model: 'model-one',
      usage,
      timing: { durationMs: 2100 },
    },
  )
  script.add('tool', { toolCallId: 'c1', state: 'allowed', by: 'user' }, caller)
  const long = script.result('c1', Array.from({ length: 300 }, (_, at) => `file-${at}.ts`).join('\n'), {
    ok: true,
  })
  const answer = script.assistant(
    'There are **300** files:\n\n```ts\nconst count = 300\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |',
    { model: 'model-one', usage },
  )
  const second = script.user('Now rename one')
  script.call('c2', 'edit', { path: 'a.ts', old_string: 'one\ntwo', new_string: 'one\nthree' })
  script.result('c2', 'no such file', { ok: false })
  const abandoned = script.assistant('It failed, sorry.')
  script.back(answer)
  const third = script.user([
    { type: 'text', text: 'Here is a picture' },
    { type: 'image', media: 'image/png', data: onePixel, alt: 'one pixel' },
  ])
  script.assistant('I see one pixel. needle')
  const compaction = script.add('compaction', {
    summary: 'Files were listed.',
    through: answer,
    tokensBefore: 9000,
    tokensAfter: 50,
  })
  const fourth = script.user('Thanks')
  const last = script.assistant('You are welcome. Needle again.')
  return { script, first, caller, long, answer, second, abandoned, third, compaction, fourth, last }
}

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
