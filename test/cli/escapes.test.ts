import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeLine, type Line } from '../../src/events/line.js'
import { place } from './coppice.js'

/** Clears the screen, sets the window's title, hides text, turns it round. */
const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202Ereversed\u2066\r'

/** Every member that a person may be shown, and every type, holds it; no draft would be let through with it. */
const hostileLog = (workspace: string): readonly Line[] => {
  const lines: Line[] = []
  let head: string | null = null
  let ms = Date.UTC(2026, 11, 1)
  const add = (type: string, payload: object, note = false): string => {
    const line = encodeLine({ parent: head, at: new Date(ms++).toISOString(), type, note }, payload)
    lines.push(line)
    if (!note) head = line.id
    return line.id
  }
  const usage = { input: 1, output: 1 }
  add('session', { format: 1, nonce: 'n', workspace: `${workspace}${evil}`, cwd: evil, agent: evil })
  add('message', { role: 'system', content: evil })
  const prompt = add('message', { role: 'user', content: `find me ${evil}`, model: evil })
  add('message', {
    role: 'assistant',
    content: [
      { type: 'text', text: evil },
      { type: evil, alt: evil, media: evil },
    ],
    reasoning: evil,
    refusal: evil,
    model: evil,
    provider: evil,
    stop: evil,
    usage,
    toolCalls: [{ id: evil, name: evil, arguments: evil }],
  })
  add('tool', { toolCallId: evil, state: evil, by: evil }, true)
  add('message', { role: 'tool', toolCallId: evil, ok: false, content: evil })
  add('message', { role: evil, content: evil })
  add('title', { title: evil, by: 'user' }, true)
  add('status', { status: 'failed', reason: evil, asks: evil }, true)
  add('process', { pid: 1, startedAt: evil, command: evil, state: 'started' }, true)
  add('label', { target: prompt, label: evil }, true)
  add('request', { model: evil, provider: evil }, true)
  add('usage', { for: evil, model: evil, usage }, true)
  add('branch', { name: evil, summary: evil })
  add('edit', { target: prompt, replacement: `edited ${evil}` })
  add('custom', { name: evil, data: evil, content: evil })
  add('checkpoint', { reason: evil, failed: evil, files: [{ path: evil, kind: evil }] })
  add('compaction', { summary: evil, through: prompt, trigger: evil, model: evil, keep: [] })
  add('restore', { checkpoint: evil, safety: evil, files: [{ path: evil, action: evil }] })
  add('redaction', { ids: [evil], reason: evil }, true)
  add('repaired', { ids: [evil], reason: evil }, true)
  add('unknown-type', { content: evil })
  add('message', { role: 'user', content: `last ${evil}` })
  return lines
}

const at = place()
let id = ''

beforeAll(() => {
  at.run(['new'])
  const projects = join(at.store, 'projects')
  const [key = ''] = readdirSync(projects)
  const lines = hostileLog(at.workspace)
  id = lines[0]?.id ?? ''
  mkdirSync(join(projects, key, id), { mode: 0o700 })
  const bytes = Buffer.concat(lines.flatMap((line) => [line.bytes, Buffer.from('\n')]))
  writeFileSync(join(projects, key, id, 'data.jsonl'), bytes, { mode: 0o600 })
})

/** Not `context`, nor JSON: into a pipe they go as they are, and only a terminal gets them made harmless. */
const commands: readonly (readonly string[])[] = [
  ['list'],
  ['list', '--all', '--sub'],
  ['show', 'ID', '--all'],
  ['log', 'ID'],
  ['tree', 'ID'],
  ['undo', 'ID'],
  ['label', 'ID', '@'],
  ['branch', 'ID'],
  ['checkpoints', 'ID'],
  ['search', 'find'],
  ['stats'],
  ['verify'],
  ['redact', 'ID', '--detect', '--dry-run'],
  ['du'],
  ['checkout', 'ID', evil],
  ['show', evil],
  ['archive', 'ID'],
  ['archive'],
]

describe('what a log says commands no terminal', () => {
  it.each(
    commands.map((args) => [args.map((arg) => (arg === evil ? 'EVIL' : arg)).join(' '), args] as const),
  )('coppice %s', (_, args) => {
    const ran = at.run(args.map((arg) => (arg === 'ID' ? id : arg)))
    const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
    expect(unsafe.exec(ran.out + ran.err)?.[0].codePointAt(0)).toBeUndefined()
    expect(ran.out + ran.err).not.toContain('fault of coppice')
  })
})
