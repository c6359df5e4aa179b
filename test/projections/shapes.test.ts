import { describe, expect, it } from 'vitest'
import type { ContextMessage } from '../../src/projections/context.js'
import { toAnthropic, toOpenAI, toPlain } from '../../src/projections/shapes.js'

const message = (
  role: ContextMessage['role'],
  content: ContextMessage['content'],
  more: Partial<ContextMessage> = {},
): ContextMessage => ({ role, content, ids: [], ...more })
const call = (id: string, args: string) => ({ id, name: 'read file', arguments: args })
const image = { type: 'image' as const, media: 'image/png', data: 'AAAA' }

const turn = [
  message('system', 'rules'),
  message('user', 'so far', { summary: true }),
  message('assistant', 'reading', {
    toolCalls: [call('a|1', '{"p":1}'), call('b', 'no json')],
    reasoning: [{ text: 'hm', signature: 's' }, { text: 'unsigned' }],
  }),
  message('tool', 'A', { toolCallId: 'a|1', ok: true }),
  message('tool', '', { toolCallId: 'b', ok: false }),
  message('user', [{ type: 'text', text: 'look' }, image]),
]

describe('OpenAI', () => {
  it('has tool messages after the call, arguments as the model gave them', () => {
    expect(toOpenAI(turn)).toEqual([
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'Summary of the conversation so far:\n\nso far' },
      {
        role: 'assistant',
        content: 'reading',
        tool_calls: [
          { id: 'a|1', type: 'function', function: { name: 'read file', arguments: '{"p":1}' } },
          { id: 'b', type: 'function', function: { name: 'read file', arguments: 'no json' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a|1', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ])
  })

  it('no arguments are an empty object, a refusal stays one, nothing said is left out', () => {
    expect(toOpenAI([message('assistant', null, { toolCalls: [call('a', '')] })])).toMatchObject([
      { content: null, tool_calls: [{ function: { arguments: '{}' } }] },
    ])
    expect(toOpenAI([message('assistant', null, { refusal: 'no' })])).toEqual([
      { role: 'assistant', content: null, refusal: 'no' },
    ])
    expect(toOpenAI([message('assistant', ''), message('user', ' '), message('system', null)])).toEqual([])
  })

  it('names media in words where only text may stand, and other media as it can', () => {
    expect(
      toOpenAI([
        message(
          'tool',
          [
            { type: 'text', text: 'got' },
            { ...image, alt: 'a cat' },
          ],
          { toolCallId: 'a' },
        ),
      ]),
    ).toMatchObject([{ content: 'got\n[image: a cat]' }])
    const parts = [
      { type: 'audio' as const, media: 'audio/mp3', data: 'AA' },
      { type: 'document' as const, data: 'AA' },
      { type: 'image' as const, url: 'https://x/y.png' },
      { type: 'image' as const },
      { type: 'hologram' },
    ]
    expect(toOpenAI([message('user', parts)])).toMatchObject([
      {
        content: [
          { input_audio: { format: 'mp3' } },
          { file: { file_data: 'data:application/pdf;base64,AA' } },
          { image_url: { url: 'https://x/y.png' } },
          { text: '[image: image/png]' },
          { text: '[hologram]' },
        ],
      },
    ])
  })
})

describe('Anthropic', () => {
  it('has results first in the next user message, merged with what follows, and says what was no JSON', () => {
    expect(toAnthropic(turn)).toEqual({
      system: 'rules',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Summary of the conversation so far:\n\nso far' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'reading' },
            { type: 'tool_use', id: 'a_1', name: 'read_file', input: { p: 1 } },
            { type: 'tool_use', id: 'b', name: 'read_file', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a_1', content: [{ type: 'text', text: 'A' }] },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [{ type: 'text', text: '(no output)' }],
              is_error: true,
            },
            {
              type: 'text',
              text: 'Note: the arguments of the call of read file were no JSON object: no json',
            },
            { type: 'text', text: 'look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
      ],
    })
  })

  it('begins with the user; a later system message stays in its place', () => {
    const { system, messages } = toAnthropic([
      message('assistant', 'hello'),
      message('system', 'be brief'),
      message('user', 'hi'),
    ])
    expect(system).toBe('')
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(messages[2]?.content).toEqual([
      { type: 'text', text: 'be brief' },
      { type: 'text', text: 'hi' },
    ])
  })

  it("the provider's own thinking blocks go back unchanged", () => {
    const replay = [
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'not this' },
    ]
    expect(
      toAnthropic([
        message('user', 'q'),
        message('assistant', 'a', { replay, reasoning: [{ text: 'r', signature: 's' }] }),
      ]).messages[1]?.content,
    ).toEqual([
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'a' },
    ])
  })

  it('call ids that come again become unique, their results with them', () => {
    const again = [
      message('assistant', null, { toolCalls: [call('x', '{}')] }),
      message('tool', 'r', { toolCallId: 'x' }),
    ]
    const ids = toAnthropic([...again, ...again]).messages.flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === 'tool_use' ? [block.id] : block.type === 'tool_result' ? [block.tool_use_id] : [],
      ),
    )
    expect(ids).toEqual(['x', 'x', 'x_2', 'x_2'])
  })

  it('a message with nothing but white space is left out', () => {
    const said = [
      message('user', 'q'),
      message('assistant', '  \n'),
      message('user', [{ type: 'text', text: '' }]),
    ]
    expect(toAnthropic(said).messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'q' }] }])
  })

  it('only system messages make a request without messages', () => {
    expect(toAnthropic([message('system', 'a'), message('system', 'b')])).toEqual({
      system: 'a\n\nb',
      messages: [],
    })
  })
})

it('plain: everything as text, with what the repair says', () => {
  expect(
    toPlain([
      message('tool', 'x', { toolCallId: 'a', ok: false, synthetic: 'not started' }),
      message('user', [image]),
    ]),
  ).toEqual([
    { role: 'tool', content: 'x', toolCallId: 'a', ok: false, synthetic: 'not started' },
    { role: 'user', content: '[image]' },
  ])
})
