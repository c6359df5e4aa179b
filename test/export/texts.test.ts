import { describe, expect, it } from 'vitest'
import { colouring } from '../../src/export/html/highlight.js'
import { prose } from '../../src/export/html/prose.js'
import { layOutCall } from '../../src/export/layout/call-layout.js'
import { diffOfTexts } from '../../src/export/layout/edit-diff.js'
import { prettyJson } from '../../src/export/layout/json.js'
import { layOutOutput } from '../../src/export/layout/output-layout.js'
import { neutral } from '../../src/export/markdown/neutral.js'
import { duration, money, short } from '../../src/export/model/quantity.js'
import { visible } from '../../src/export/visible.js'

describe('prose', () => {
  it('renders Markdown: headings below those of the page, lists, tables, code with its colours', () => {
    const html = prose(
      '# Title\n\n- one\n- **two**\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n```ts\nconst a = 1\n```',
    )
    expect(html).toContain('<h4>Title</h4>')
    expect(html).toContain('<strong>two</strong>')
    expect(html).toContain('<th class="right">a</th>')
    expect(html).toContain('<pre data-lang="ts" data-h="K.5N5.1">const a = 1</pre>')
  })

  it('links to the web and to mail only, and loads no image', () => {
    const html = prose(
      '[a](https://a.b) [c](src/c.ts) [d](javascript:x) ![e](https://a.b/e.png) [f](data:text/html,x)',
    )
    expect(html.match(/<a [^>]*>/g)).toEqual([
      '<a href="https://a.b" rel="noopener noreferrer nofollow" target="_blank">',
    ])
    expect(html).toContain('[image: e]')
    expect(html).not.toMatch(/<img|href="(?!https:\/\/a\.b)/)
  })
})

describe('arguments of a call', () => {
  it.each([
    ['{"command":"make test","description":"Run them"}', 'Run them', [['command', 'make test']]],
    [
      '{"command":["bash","-lc","make"],"workdir":"/w"}',
      '',
      [
        ['command', 'make'],
        ['json', '{ "workdir": "/w" }'],
      ],
    ],
    ['{"file_path":"a.ts","old_string":"a\\nb","new_string":"a\\nc"}', 'a.ts', [['diff', ' a\n-b\n+c']]],
    ['{"path":"a.py","edits":[{"oldText":"x","newText":"y"}]}', 'a.py', [['diff', '-x\n+y']]],
    ['{"file_path":"a.json","content":"{}"}', 'a.json', [['code', '{}']]],
    ['{"pattern":"TODO","path":"src"}', 'TODO', [['json', '{ "path": "src" }']]],
    ['{"file_path":"a.ts"}', 'a.ts', []],
    ['{"x":1.0,"x":2}', '', [['json', '{ "x": 1.0, "x": 2 }']]],
    ['not JSON', '', [['plain', 'not JSON']]],
    ['*** Begin Patch\n*** End Patch', '', [['diff', '*** Begin Patch\n*** End Patch']]],
    ['', '', []],
  ])('%s', (raw, about, expected) => {
    const laid = layOutCall(raw)
    expect(laid.about).toBe(about)
    expect(laid.pieces.map((piece) => [piece.kind, 'text' in piece ? piece.text : ''])).toEqual(expected)
  })
})

it('lays out JSON without changing how anything in it is spelled', () => {
  const long = 'more than a line '.repeat(5)
  const json = `{"a":[1.0,{"b":"x, {y}\\u00e9"}],"e":[],"o":{},"a":12345678901234567890,"l":"${long}"}`
  expect(prettyJson(json)).toBe(
    `{\n  "a": [\n    1.0,\n    {\n      "b": "x, {y}\\u00e9"\n    }\n  ],\n  "e": [],\n  "o": {},\n  "a": 12345678901234567890,\n  "l": "${long}"\n}`,
  )
  expect(prettyJson('{"a":[1.0,{"b":"[\\n] "}],"e":[]}')).toBe('{ "a": [1.0, { "b": "[\\n] " }], "e": [] }')
  expect(prettyJson('{"a":')).toBeNull()
  expect(prettyJson('"text"')).toBeNull()
})

it('shows what a command printed as it was printed, where it stands in JSON', () => {
  const raw = '{"output":"one\\ntwo\\n","metadata":{"exit_code":1}}'
  const text = 'one\ntwo\n\n{ "metadata": { "exit_code": 1 } }'
  expect(layOutOutput(raw)).toEqual({ kind: 'output', text, raw })
  expect(layOutOutput('{"output":"","exit_code":0}').kind).toBe('json')
  expect(layOutOutput('{"output":[1]}').kind).toBe('json')
})

it('tells texts that have nothing in common as one removed and one added', () => {
  expect(diffOfTexts('', 'a\nb')).toBe('+a\n+b')
  expect(diffOfTexts('a\nb', '')).toBe('-a\n-b')
  const lines = (name: string) => Array.from({ length: 1500 }, (_, at) => `${name} ${at}`).join('\n')
  expect(diffOfTexts(lines('a'), lines('b')).split('\n')).toHaveLength(3000)
})

it('colours known languages only', () => {
  expect(colouring('const a = 1', 'ts')).toBe('K.5N5.1')
  expect(colouring('const a = 1', 'klingon')).toBe('')
  expect(colouring('x'.repeat(30_000), 'ts')).toBe('')
})

it('makes terminal codes, bidi overrides and lone surrogates visible, and leaves the rest', () => {
  expect(visible('a\x1b[31mb\r\nc\td\u202ee\ud800')).toBe('a␛[31mb\nc\td<U+202E>e<U+D800>')
  expect(visible('🙂 é שלום')).toBe('🙂 é שלום')
})

it('takes the tags out of Markdown, but not out of code', () => {
  expect(neutral('<b>x</b> `<b>` ![i](u) [l](javascript:x)')).toBe(
    '&lt;b>x&lt;/b> `<b>` \\![i](u) [l\\](javascript:x)',
  )
  expect(neutral('```\n<b>\n```\n<b>')).toBe('```\n<b>\n```\n&lt;b>')
  expect(neutral('~~~\n<b>')).toBe('~~~\n<b>\n~~~')
})

it('says quantities as people do', () => {
  expect([950, 1200, 34_000, 999_600, 12_000_000].map(short)).toEqual(['950', '1.2k', '34k', '1M', '12M'])
  expect([12, 2100, 250_000, 11_100_000, 190_000_000].map(duration)).toEqual([
    '12 ms',
    '2.1 s',
    '4 min 10 s',
    '3 h 5 min',
    '2 d 4 h',
  ])
  expect([0.0042, 0.5, 1.234, 0].map(money)).toEqual(['$0.0042', '$0.50', '$1.23', '$0.00'])
})
