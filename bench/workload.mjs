// @ts-check
/**
 * What a coding agent's conversation looks like, from a seed: a turn is a prompt (200 B), two calls of a tool (1.5 KiB
 * each) with their results (4 KiB, one in 50 of them 60 KiB), and an answer (1.5 KiB). Two events in a hundred hold text
 * that is not Latin. `draft(i)` depends on nothing but its argument.
 */
const KiB = 1024
const seed = 1
const wideShare = 0.02

/** mulberry32: numbers in [0, 1). @param {number} from @returns {() => number} */
function numbers(from) {
  let a = from >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = a
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const words =
  `the file session event parse index branch leaf token stream error value const return await function import export
   if else for while class interface string number boolean null undefined buffer offset length append write read sync
   open close tree node parent child summary model tool call result user assistant message content title fork resume
   list path test expect assert median worker queue`.split(/\s+/)
const code = [
  '\n',
  '\n  ',
  '\n\t\t',
  '\n\n',
  ' = "',
  '";\n',
  '(',
  ');\n',
  ' => {\n    ',
  '}\n',
  '\\n',
  ' // ',
  ': ',
  ', ',
]
const wide = ['会话', '事件', '树', '模型', '上下文', '🙂', 'é', 'ß', 'Привет', 'セッション']

/** @param {number} from @param {number} length @param {boolean} isWide */
function prose(from, length, isWide) {
  const next = numbers(from)
  /** @template T @param {readonly T[]} list @returns {T} */
  const any = (list) => /** @type {T} */ (list[Math.floor(next() * list.length)])
  const parts = []
  for (let made = 0; made < length; ) {
    const word = isWide && next() < 0.15 ? any(wide) : any(words)
    const gap = next() < 0.22 ? any(code) : ' '
    parts.push(word, gap)
    made += word.length + gap.length
  }
  return parts.join('')
}

const plainProse = prose(seed, 1024 * KiB, false)
const wideProse = prose(seed + 1, 256 * KiB, true)
const loneSurrogate = /^[\udc00-\udfff]|[\ud800-\udbff]$/g

/** About `bytes` of text. @param {() => number} next @param {number} bytes */
function text(next, bytes) {
  const isWide = next() < wideShare
  const source = isWide ? wideProse : plainProse
  const at = Math.floor(next() * (source.length - bytes))
  return isWide
    ? source.slice(at, at + Math.floor(bytes / 1.4)).replace(loneSurrogate, '')
    : source.slice(at, at + bytes)
}

/** @param {() => number} next @param {number} mean */
const about = (next, mean) => Math.round(mean * (0.5 + next()))
/** @param {number} i */
const callId = (i) => `call_${i.toString(36).padStart(8, '0')}`

/** @param {number} i @returns {import('../src/index.js').Draft} */
export function draft(i) {
  const next = numbers(Math.imul(seed, 0x9e3779b1) ^ Math.imul(i + 1, 0x85ebca6b))
  next()
  const step = i % 6
  if (step === 0) return { type: 'message', role: 'user', content: text(next, about(next, 200)) }
  if (step === 2 || step === 4) {
    const nth = Math.floor(i / 6) * 2 + (step === 4 ? 1 : 0)
    const bytes = nth % 50 === 49 ? 60 * KiB : about(next, 4 * KiB)
    return { type: 'message', role: 'tool', toolCallId: callId(i - 1), ok: true, content: text(next, bytes) }
  }
  const said = { type: 'message', role: 'assistant', content: text(next, about(next, 1.5 * KiB)) }
  const usage = { input: 1000 + i, output: 400, cacheRead: 900 + i, cacheWrite: 100, reasoning: 0 }
  const calls = [
    { id: callId(i), name: 'bash', arguments: JSON.stringify({ command: 'rg -n append src', i }) },
  ]
  return {
    ...said,
    ...(step === 5 ? {} : { toolCalls: calls }),
    model: 'a-model',
    provider: 'a-provider',
    usage,
  }
}

/** @param {number} from @param {number} count */
export const drafts = (from, count) => Array.from({ length: count }, (_, i) => draft(from + i))

export const summary = plainProse.slice(1000, 1000 + 3 * KiB)
/** @param {number} i */
export const title = (i) =>
  `Session ${i}: ${plainProse
    .slice(i * 7, i * 7 + 40)
    .replace(/\s+/g, ' ')
    .trim()}`
