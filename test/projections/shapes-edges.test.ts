import { describe, expect, it } from 'vitest'
import type { ContextMessage } from '../../src/projections/context.js'
import { toAnthropic, toOpenAI, toPlain } from '../../src/projections/shapes.js'

const message = (
  role: ContextMessage['role'],
  content: unknown,
  more: Partial<ContextMessage> = {},
): ContextMessage => ({ role, content: content as ContextMessage['content'], ids: [], ...more })
const call = (id: string, args: unknown, name = 'read') => ({ id, name, arguments: args as string })

const question = message('user', 'q')
/** What the Messages API gets of a user's parts. */
const blocksOf = (...parts: object[]) => toAnthropic([message('user', parts)]).messages[0]?.content
const partsOf = (...parts: object[]) => toOpenAI([message('user', parts)])[0]?.content
/** The blocks of an assistant's message after a question, and what follows it. */
const answerOf = (more: Partial<ContextMessage>, content: unknown = null) =>
  toAnthropic([question, message('assistant', content, more)]).messages[1]?.content

describe('media for Anthropic', () => {
  it('go as base64, as a URL, or in words where the API takes neither', () => {
    expect(
      blocksOf(
        { type: 'image', url: 'https://x/y.png' },
        { type: 'document', media: 'application/pdf', data: 'AA', url: 'https://x/y.pdf' },
        { type: 'document', data: 'AA' },
        { type: 'image', alt: 'a cat' },
        { type: 'audio', data: 'AA', url: 'https://x/y.wav', alt: 'a song' },
      ),
    ).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } },
      { type: 'text', text: '[image: a cat]' },
      { type: 'text', text: '[audio: a song]' },
    ])
  })

  it('that a tool gave stay in its result', () => {
    const result = message('tool', [{ type: 'image', data: 'AA' }], { toolCallId: 'a' })
    const asked = message('assistant', null, { toolCalls: [call('a', '{}')] })
    expect(toAnthropic([question, asked, result]).messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } }],
      },
    ])
  })
})

describe('media for OpenAI', () => {
  it('take the shape of their kind where their bytes are there, and else are named by what is known best', () => {
    expect(
      partsOf(
        { type: 'audio', data: 'AA' },
        { type: 'audio', media: 'audio/x/ogg', data: 'AA' },
        { type: 'document', data: 'AA' },
        { type: 'document', media: 'text/plain', data: 'AA', alt: 'notes.txt' },
        { type: 'document', url: 'https://x/y.pdf' },
        { type: 'audio', url: 'https://x/y.wav', alt: 'a song' },
        { type: 'audio', media: 'audio/ogg' },
      ),
    ).toEqual([
      { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
      { type: 'input_audio', input_audio: { data: 'AA', format: 'ogg' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA', filename: 'document' } },
      { type: 'file', file: { file_data: 'data:text/plain;base64,AA', filename: 'notes.txt' } },
      { type: 'text', text: '[document: https://x/y.pdf]' },
      { type: 'text', text: '[audio: a song]' },
      { type: 'text', text: '[audio: audio/ogg]' },
    ])
  })

  it('alone are a list of one part; text alone is a string; no parts are no message', () => {
    expect(partsOf({ type: 'image', data: 'AA' })).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
    ])
    expect(partsOf({ type: 'text', text: 'hi' })).toBe('hi')
    expect(toOpenAI([message('user', [])])).toEqual([])
  })
})

describe('OpenAI', () => {
  it('what is said beside a refusal stands as content; a result of no call that is known has an empty id', () => {
    expect(toOpenAI([message('assistant', 'well', { refusal: 'no' })])).toEqual([
      { role: 'assistant', content: 'well', refusal: 'no' },
    ])
    expect(toOpenAI([message('tool', 'r')])).toEqual([{ role: 'tool', tool_call_id: '', content: 'r' }])
  })

  it('arguments that are no text any more are an empty object', () => {
    expect(
      toOpenAI([message('assistant', null, { toolCalls: [call('a', { $blob: 'gone' })] })]),
    ).toMatchObject([{ tool_calls: [{ function: { arguments: '{}' } }] }])
  })
})

describe('content of any shape', () => {
  it('a blob of JSON may have held parts; what nests deeper than that, or is not known, is named or left out', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 'deep' : [nested(depth - 1)])
    expect(toOpenAI([message('user', { text: [{ type: 'text', text: 'held' }] })])).toEqual([
      { role: 'user', content: 'held' },
    ])
    expect(toOpenAI([message('user', nested(4))])).toEqual([{ role: 'user', content: 'deep' }])
    expect(toOpenAI([message('user', nested(5)), message('user', nested(40))])).toEqual([])
    const wrapped = (depth: number): unknown => (depth === 0 ? 'deep' : { text: wrapped(depth - 1) })
    expect(toOpenAI([message('user', wrapped(40))])).toEqual([])
    expect(partsOf({ type: 7 }, { type: 'hologram' })).toEqual([
      { type: 'text', text: '[content that could not be read]' },
      { type: 'text', text: '[hologram]' },
    ])
    expect(toOpenAI([message('system', 7)])).toEqual([])
  })

  it('a summary says that it is one whatever it begins with; an empty one says nothing', () => {
    const summary = (content: unknown) => toOpenAI([message('user', content, { summary: true })])
    expect(summary([{ type: 'image', data: 'AA' }, 'after'])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Summary of the conversation so far:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
          { type: 'text', text: 'after' },
        ],
      },
    ])
    expect(summary(['a', 'b'])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Summary of the conversation so far:\n\na' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
    expect(summary('  ')).toEqual([])
  })
})

describe('Anthropic', () => {
  it('empty system messages are no part of the system text; a later one that is empty is left out', () => {
    const { system, messages } = toAnthropic([
      message('system', 'a'),
      message('system', ' '),
      message('system', 'b'),
      question,
      message('system', ' \n'),
      message('system', [{ type: 'text', text: 'late' }, { type: 'image' }]),
    ])
    expect(system).toBe('a\n\nb')
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'q' },
          { type: 'text', text: 'late\n[image]' },
        ],
      },
    ])
    expect(toAnthropic([]).messages).toEqual([])
  })

  it('a conversation that the assistant begins says so in words', () => {
    expect(toAnthropic([message('assistant', 'hello')]).messages[0]).toEqual({
      role: 'user',
      content: [{ type: 'text', text: '[The conversation begins here.]' }],
    })
  })

  it('names and ids of calls are cut to what the API takes, never empty, and unique in the third place too', () => {
    const calls = [
      call('i'.repeat(200), '{}', 'n'.repeat(200)),
      call('', '{}', ''),
      call('x', '{}'),
      call('x ', '{}'),
      call('x_', '{}'),
      call('x?', '{}'),
    ]
    const answer = answerOf({ toolCalls: calls }) ?? []
    const uses = answer.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    expect(uses.map(({ id }) => id)).toEqual(['i'.repeat(120), 'call', 'x', 'x_', 'x__2', 'x__3'])
    expect(uses.slice(0, 2).map(({ name }) => name)).toEqual(['n'.repeat(128), 'tool'])
  })

  it('parts that are said stand as one text, media among them in words, a refusal after them', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'image', alt: 'a cat' },
    ]
    expect(answerOf({ refusal: 'no' }, parts)).toEqual([
      { type: 'text', text: 'a\n[image: a cat]' },
      { type: 'text', text: 'no' },
    ])
  })

  it('thinking alone is no answer: the turn is left out, and the users on both sides are one', () => {
    const thinking = { reasoning: [{ text: 'hm', signature: 's' }] }
    expect(toAnthropic([question, message('assistant', null, thinking), question]).messages).toEqual([
      { role: 'user', content: [question, question].map(() => ({ type: 'text', text: 'q' })) },
    ])
    expect(answerOf({ ...thinking, toolCalls: [call('a', '{}')] }, 'said')).toHaveLength(3)
    expect(answerOf({ ...thinking, toolCalls: [call('a', '{}')] })).toHaveLength(2)
  })

  it('of reasoning and replays in any shape only thinking that is signed goes back', () => {
    const signed = { type: 'thinking', thinking: 'hm', signature: 's' }
    expect(answerOf({ replay: [null, 'x', signed, { type: 7 }] }, 'a')).toEqual([
      signed,
      { type: 'text', text: 'a' },
    ])
    expect(answerOf({ reasoning: [null, { signature: 's' }, { text: 'hm', signature: 's' }] }, 'a')).toEqual([
      signed,
      { type: 'text', text: 'a' },
    ])
  })

  it('blank arguments are none, without a word; others that are no object are told of with the name and the text', () => {
    const told = (...calls: ReturnType<typeof call>[]) =>
      toAnthropic([
        question,
        message('assistant', null, { toolCalls: calls }),
        ...calls.map(({ id }) => message('tool', 'r', { toolCallId: id })),
      ]).messages[2]?.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    expect(told(call('a', ''), call('b', ' \n'), call('c', { $blob: 'gone' }))).toEqual([])
    expect(told(call('a', '[1]', ''), call('b', '{"a":'))).toEqual([
      'Note: the arguments of the call of a tool were no JSON object: [1]',
      'Note: the arguments of the call of read were no JSON object: {"a":',
    ])
  })

  it('a result that succeeded, or does not say, is no error', () => {
    const results = [true, undefined, false].map((ok, at) =>
      message('tool', 'r', { toolCallId: `${at}`, ...(ok === undefined ? {} : { ok }) }),
    )
    const toolCalls = results.map((_, at) => call(`${at}`, '{}'))
    expect(
      toAnthropic([question, message('assistant', null, { toolCalls }), ...results]).messages[2]?.content,
    ).toEqual([
      { type: 'tool_result', tool_use_id: '0', content: [{ type: 'text', text: 'r' }] },
      { type: 'tool_result', tool_use_id: '1', content: [{ type: 'text', text: 'r' }] },
      { type: 'tool_result', tool_use_id: '2', content: [{ type: 'text', text: 'r' }], is_error: true },
    ])
    expect(toAnthropic([message('tool', 'r')]).messages[0]?.content).toMatchObject([{ tool_use_id: '' }])
  })
})

describe('plain', () => {
  it('has each member only where the message has it', () => {
    expect(toPlain([question])).toStrictEqual([{ role: 'user', content: 'q' }])
    expect(toPlain([message('assistant', null, { refusal: 'no' })])).toStrictEqual([
      { role: 'assistant', content: '', refusal: 'no' },
    ])
    expect(
      toPlain([
        message('assistant', 'a', { toolCalls: [call('a', '{"p":1}'), call('b', { $blob: 'gone' })] }),
      ]),
    ).toStrictEqual([
      {
        role: 'assistant',
        content: 'a',
        toolCalls: [
          { id: 'a', name: 'read', arguments: '{"p":1}' },
          { id: 'b', name: 'read', arguments: '' },
        ],
      },
    ])
  })
})
