import { isObject, type Json } from '../../src/formats/remainder.js'

/**
 * What each tool asks of the files that it reads, told here without our own readers: by what its program refuses or
 * passes over. Each check gives what is wrong, in words.
 */

export type Problems = readonly string[]
export type Files = ReadonlyMap<string, Buffer>

/** The records of a file of lines; what is wrong with a line for a strict reader goes to `problems`. */
const recordsOf = (name: string, bytes: Buffer, problems: string[]): readonly Json[] => {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  if (!text.endsWith('\n')) problems.push(`${name} does not end in a newline`)
  if (/[\u0085\u2028\u2029\uFEFF]/.test(text)) problems.push(`${name} holds a line separator`)
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line, i) => {
      const value: unknown = JSON.parse(line)
      if (stringsIn(value).some((one) => /\p{Surrogate}/u.test(one)))
        problems.push(`${name}:${i + 1} holds half a character`)
      if (!isObject(value)) problems.push(`${name}:${i + 1} is no object`)
      return isObject(value) ? [value] : []
    })
}

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  return isObject(value) ? Object.entries(value).flatMap(([key, one]) => [key, ...stringsIn(one)]) : []
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
const object = (value: unknown): Json => (isObject(value) ? value : {})
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)
const uuid = (version: string) =>
  new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-[${version}][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

/** Each call has its result right after the message that made it, and no result stands elsewhere. */
const pairing = (
  messages: readonly { readonly calls: readonly unknown[]; readonly result: unknown }[],
  problems: string[],
  name: string,
): void => {
  let open = new Set<unknown>()
  for (const { calls, result } of messages) {
    if (result !== undefined) {
      if (!open.delete(result))
        problems.push(`${name}: result of ${String(result)} without its call before it`)
      continue
    }
    if (open.size > 0) problems.push(`${name}: call ${[...open].join()} without its result`)
    open = new Set(calls)
    if (open.size < calls.length) problems.push(`${name}: a call's id stands twice in a message`)
  }
  if (open.size > 0) problems.push(`${name}: call ${[...open].join()} without its result`)
}

const claude = (files: Files): Problems => {
  const problems: string[] = []
  for (const [name, bytes] of files) {
    if (!name.endsWith('.jsonl')) continue
    const records = recordsOf(name, bytes, problems)
    const known = new Map<unknown, Json>()
    for (const record of records) {
      const { uuid: id, parentUuid, logicalParentUuid, timestamp, message, type } = record
      if (id === undefined) continue
      if (typeof id !== 'string' || !uuid('4').test(id)) problems.push(`${name}: uuid ${String(id)}`)
      if (known.has(id)) problems.push(`${name}: uuid ${String(id)} twice`)
      for (const parent of [parentUuid, logicalParentUuid])
        if (parent !== null && parent !== undefined && !known.has(parent))
          problems.push(`${name}: parent ${String(parent)} does not stand before`)
      if (!isTime(timestamp)) problems.push(`${name}: time ${String(timestamp)}`)
      known.set(id, record)
      if (type === 'user' || type === 'assistant') problems.push(...claudeMessage(object(message), name))
    }
    const leaf = records.findLast(({ uuid: id }) => id !== undefined)
    const path: Json[] = []
    for (let at: Json | undefined = leaf; at !== undefined; at = known.get(at.parentUuid)) path.unshift(at)
    const answers = new Map<unknown, unknown[]>()
    const said: { calls: unknown[]; result: unknown }[] = []
    for (const { type, message } of path) {
      const { content, id } = object(message)
      const results = list(content).filter((block) => block.type === 'tool_result')
      for (const { tool_use_id: result } of results) said.push({ calls: [], result })
      const calls = list(content).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
      const open = type === 'assistant' ? answers.get(id) : undefined
      if (open !== undefined) open.push(...calls)
      else if (type === 'assistant') {
        answers.set(id, calls)
        said.push({ calls, result: undefined })
      } else if (results.length === 0 && type === 'user') said.push({ calls: [], result: undefined })
    }
    pairing(said, problems, name)
    const ids = said.flatMap(({ calls }) => calls)
    if (new Set(ids).size < ids.length) problems.push(`${name}: a call's id stands twice`)
  }
  return problems
}

/** What the model's provider refuses. */
const claudeMessage = ({ role, content, id, model, usage }: Json, name: string): Problems => {
  const problems: string[] = []
  if (role !== 'user' && role !== 'assistant') problems.push(`role ${String(role)}`)
  if (role === 'assistant' && (typeof id !== 'string' || typeof model !== 'string' || model === ''))
    problems.push('answer without id or model')
  if (content === '' || (Array.isArray(content) && content.length === 0)) problems.push('empty content')
  for (const block of [...list(content), ...list(content).flatMap((one) => list(one.content))]) {
    const { type, text, id: call, name: tool, input, source } = block
    if (type === 'text' && (typeof text !== 'string' || text === '')) problems.push('empty text')
    if (type === 'tool_use') {
      if (typeof call !== 'string' || !/^[A-Za-z0-9_-]+$/.test(call)) problems.push(`call id ${String(call)}`)
      if (typeof tool !== 'string' || !/^[A-Za-z0-9_-]{1,128}$/.test(tool))
        problems.push(`tool ${String(tool)}`)
      if (!isObject(input)) problems.push('input is no object')
    }
    if (type === 'image') {
      const { media_type: media, data, type: kind } = object(source)
      const isKnown = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'].includes(String(media))
      const isBytes = typeof data === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
      if (kind === 'base64' && !(isKnown && isBytes)) problems.push(`image ${String(media)}`)
    }
  }
  for (const [key, count] of Object.entries(object(usage)))
    if (typeof count === 'number' && !isCount(count)) problems.push(`usage.${key} ${count}`)
  return problems.map((problem) => `${name}: ${problem}`)
}

const pi = (files: Files): Problems => {
  const problems: string[] = []
  for (const [name, bytes] of files) {
    const [header = {}, ...entries] = recordsOf(name, bytes, problems)
    if (header.type !== 'session' || header.version !== 3) problems.push('header')
    if (!uuid('7').test(String(header.id)) || typeof header.cwd !== 'string') problems.push('header')
    const known = new Map<unknown, Json>()
    for (const entry of entries) {
      const { id, parentId, timestamp, type, targetId } = entry
      if (!/^[0-9a-f]{8}$/.test(String(id)) || known.has(id)) problems.push(`id ${String(id)}`)
      if (parentId !== null && !known.has(parentId)) problems.push(`parent ${String(parentId)}`)
      if (!isTime(timestamp)) problems.push(`time ${String(timestamp)}`)
      if (type === 'label' && !known.has(targetId)) problems.push(`label of ${String(targetId)}`)
      known.set(id, entry)
      if (type === 'message') problems.push(...piMessage(object(entry.message)))
    }
    const path: Json[] = []
    for (let at = entries.at(-1); at !== undefined; at = known.get(at.parentId)) path.unshift(at)
    for (const { type, firstKeptEntryId: kept, summary, tokensBefore } of path) {
      if (type !== 'compaction') continue
      if (typeof summary !== 'string' || !isCount(tokensBefore)) problems.push('compaction')
      if (!path.some(({ id }) => id === kept)) problems.push(`kept ${String(kept)}`)
    }
    const said = path.flatMap(({ type, message }) => {
      const { role, content, toolCallId, stopReason } = object(message)
      if (type !== 'message' || stopReason === 'error' || stopReason === 'aborted') return []
      const calls = list(content).flatMap((block) => (block.type === 'toolCall' ? [block.id] : []))
      return [{ calls, result: role === 'toolResult' ? toolCallId : undefined }]
    })
    pairing(said, problems, name)
  }
  return problems
}

const piStops = new Set<unknown>(['stop', 'length', 'toolUse', 'error', 'aborted'])

const piMessage = (message: Json): Problems => {
  const problems: string[] = []
  const { role, content, usage, stopReason, timestamp, isError, toolName } = message
  if (!Number.isSafeInteger(timestamp)) problems.push(`message time ${String(timestamp)}`)
  if (typeof content !== 'string' && !Array.isArray(content)) problems.push('content')
  for (const { type, arguments: given, data } of list(content)) {
    if (type === 'toolCall' && !isObject(given)) problems.push('arguments')
    if (type === 'image' && (typeof data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)))
      problems.push('image')
  }
  if (role === 'toolResult' && (typeof isError !== 'boolean' || typeof toolName !== 'string'))
    problems.push('result')
  if (role !== 'assistant') return problems
  if (!piStops.has(stopReason)) problems.push(`stop ${String(stopReason)}`)
  const { cost, ...counts } = object(usage)
  for (const count of ['input', 'output', 'cacheRead', 'cacheWrite', 'totalTokens'])
    if (!isCount(counts[count])) problems.push(`usage.${count} ${String(counts[count])}`)
  for (const part of ['input', 'output', 'cacheRead', 'cacheWrite', 'total'])
    if (typeof object(cost)[part] !== 'number') problems.push(`cost.${part}`)
  for (const member of ['api', 'provider', 'model'])
    if (typeof message[member] !== 'string' || message[member] === '') problems.push(member)
  return problems
}

const codex = (files: Files): Problems => {
  const problems: string[] = []
  for (const [name, bytes] of files) {
    const records = recordsOf(name, bytes, problems)
    if (name === 'session_index.jsonl') continue
    const [meta = {}, ...rest] = records
    const { id, cwd, originator, cli_version: version, source, ...more } = object(meta.payload)
    const isNamed = uuid('1-8').test(String(id)) && name.includes(String(id))
    if (meta.type !== 'session_meta' || !isNamed) problems.push('meta')
    if ([cwd, originator, version].some((one) => typeof one !== 'string') || source === undefined)
      problems.push('meta')
    if ('model_provider' in more) problems.push('names a provider')
    let turn: unknown = null
    const open = new Map<unknown, number>()
    for (const record of rest) {
      const { timestamp, type, payload: given, ordinal } = record
      const payload = object(given)
      if (!isTime(timestamp) || ordinal !== undefined) problems.push(`line of ${String(timestamp)}`)
      if (payload.type === 'task_started') {
        if (turn !== null) problems.push('turn in a turn')
        turn = payload.turn_id
      }
      if (payload.type === 'task_complete') {
        if (turn === null || turn !== payload.turn_id) problems.push('end of no turn')
        turn = null
      }
      if (type === 'compacted' && turn === null) problems.push('compaction outside a turn')
      problems.push(...codexItem(String(type), payload))
      if (payload.type === 'function_call') open.set(payload.call_id, (open.get(payload.call_id) ?? 0) + 1)
      if (payload.type === 'function_call_output') {
        if (!open.has(payload.call_id)) problems.push(`output of ${String(payload.call_id)}`)
        open.delete(payload.call_id)
      }
    }
    if (turn !== null) problems.push('turn without end')
    if (open.size > 0) problems.push(`call ${[...open.keys()].join()} without output`)
    if ([...open.values()].some((count) => count > 1)) problems.push('call id twice')
  }
  return problems
}

const codexItem = (type: string, payload: Json): Problems => {
  const problems: string[] = []
  const { call_id: call, name, arguments: given, info, duration, output } = payload
  if (payload.type === 'function_call') {
    if (typeof call !== 'string' || call === '' || [...call].length > 64)
      problems.push(`call id ${String(call)}`)
    if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,128}$/.test(name))
      problems.push(`tool ${String(name)}`)
    if (typeof given !== 'string') problems.push('arguments')
  }
  if (payload.type === 'function_call_output' && typeof output !== 'string' && !Array.isArray(output))
    problems.push('output')
  for (const totals of [object(info).total_token_usage, object(info).last_token_usage])
    for (const [key, count] of Object.entries(object(totals)))
      if (!isCount(count)) problems.push(`${key} ${String(count)}`)
  if (duration !== undefined) {
    const { secs, nanos } = object(duration)
    if (!isCount(secs) || !isCount(nanos) || (nanos as number) >= 1e9)
      problems.push(`duration ${JSON.stringify(duration)}`)
  }
  if (type === 'response_item' && payload.type === 'message')
    for (const { image_url: url, type: kind } of list(payload.content))
      if (
        kind === 'input_image' &&
        !/^(https?:|data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]+=*$)/.test(String(url))
      )
        problems.push(`image ${String(url)}`)
  return problems
}

const deepcodeStatuses = new Set<unknown>([
  'pending',
  'processing',
  'completed',
  'failed',
  'interrupted',
  'ask_permission',
  'waiting_for_user',
  'permission_denied',
])

const deepcode = (files: Files): Problems => {
  const problems: string[] = []
  const index = object(JSON.parse(String(files.get('sessions-index.json'))))
  const entries = list(index.entries)
  for (const { id, summary, status, createTime, updateTime, usage, activeTokens } of entries) {
    if (!files.has(`${String(id)}.jsonl`) || !uuid('1-5').test(String(id)))
      problems.push(`entry ${String(id)}`)
    if (typeof summary !== 'string' || /\p{Surrogate}/u.test(summary)) problems.push('summary')
    if (!deepcodeStatuses.has(status)) problems.push(`status ${String(status)}`)
    if (!isTime(createTime) || !isTime(updateTime)) problems.push('times')
    if (!isCount(activeTokens)) problems.push(`activeTokens ${String(activeTokens)}`)
    for (const [key, count] of Object.entries(object(usage)))
      if (!isObject(count) && !isCount(count)) problems.push(`usage.${key} ${String(count)}`)
  }
  for (const [name, bytes] of files) {
    if (!name.endsWith('.jsonl')) continue
    if (!entries.some(({ id }) => name === `${String(id)}.jsonl`)) problems.push(`${name} is in no index`)
    const ids = new Set<unknown>()
    const said: { calls: readonly unknown[]; result: unknown }[] = []
    for (const record of recordsOf(name, bytes, problems)) {
      const { id, sessionId, role, content, messageParams, compacted, createTime } = record
      if (!uuid('1-5').test(String(id)) || ids.has(id)) problems.push(`id ${String(id)}`)
      ids.add(id)
      if (`${String(sessionId)}.jsonl` !== name) problems.push(`line of ${String(sessionId)}`)
      if (!['system', 'user', 'assistant', 'tool'].includes(String(role)))
        problems.push(`role ${String(role)}`)
      if (content !== null && typeof content !== 'string') problems.push('content')
      if (!isTime(createTime)) problems.push('time')
      const params = object(messageParams)
      const calls = list(params.tool_calls)
      for (const { id: call, type, function: called } of calls)
        if (typeof call !== 'string' || call === '' || type !== 'function' || !isObject(called))
          problems.push('call')
      if (role === 'tool' && typeof object(JSON.parse(String(content))).ok !== 'boolean')
        problems.push('result without ok')
      if (compacted === true) continue
      said.push({
        calls: calls.map(({ id: call }) => call),
        result: role === 'tool' ? params.tool_call_id : undefined,
      })
    }
    pairing(said, problems, name)
  }
  return problems
}

const zettKinds = new Map<unknown, readonly string[]>([
  [1, ['content']],
  [2, ['content']],
  [3, ['content', 'model', 'provider', 'reasoning', 'replay_blocks', 'tool_calls']],
  [4, ['content', 'name', 'success', 'tool_call_id']],
  [5, ['content']],
])

const zettcode = (files: Files): Problems => {
  const problems: string[] = []
  for (const [name, bytes] of files) {
    const records = recordsOf(name, bytes, problems)
    if (name === 'metadata.jsonl') continue
    const [header = {}] = records
    if (header.kind !== 'session' || `${String(header.session_id)}/data.jsonl` !== name)
      problems.push('header')
    const known = new Map<unknown, Json>()
    let version = 0
    for (const record of records.slice(1)) {
      const { id, parent, kind, message, created_at: at } = record
      const [envelope] = list(message)
      const data = object(envelope?.data)
      if (typeof id !== 'string' || known.has(id)) problems.push(`id ${String(id)}`)
      if (!isTime(at)) problems.push(`time ${String(at)}`)
      if (parent !== null && !known.has(parent)) problems.push(`parent ${String(parent)}`)
      const members = zettKinds.get(envelope?.kind)
      if (members === undefined || members.some((member) => !(member in data))) problems.push('envelope')
      if (typeof data.persist !== 'boolean' || typeof data.include_in_messages !== 'boolean')
        problems.push('envelope')
      if (kind === 'compaction') {
        if (record.version !== ++version || parent === null)
          problems.push(`checkpoint ${String(record.version)}`)
        continue
      }
      if (kind !== 'message') problems.push(`kind ${String(kind)}`)
      known.set(id, record)
      problems.push(...zettMessage(record, envelope?.kind, data))
    }
    const path: Json[] = []
    const last = records.findLast(({ kind }) => kind === 'message')
    for (let at = last; at !== undefined; at = known.get(at.parent)) path.unshift(at)
    const said = path.flatMap(({ message }) => {
      const [envelope] = list(message)
      const { include_in_messages: isTold, tool_calls: calls, tool_call_id: result } = object(envelope?.data)
      return isTold === true ? [{ calls: list(calls).map(({ id }) => id), result }] : []
    })
    pairing(said, problems, name)
  }
  return problems
}

/** Nanoseconds, in 64 bits. */
const isSpan = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 63

const zettMessage = (
  { timing, usage, request_id: request, tags }: Json,
  kind: unknown,
  data: Json,
): Problems => {
  const problems: string[] = []
  if (typeof request !== 'string' || !isObject(tags)) problems.push('message')
  const spans = object(timing)
  for (const span of ['', 'reasoning_', 'content_']) {
    const [start, end, took] = ['started_at', 'completed_at', 'duration_ns'].map((one) => spans[span + one])
    const isNone = start === null && end === null && took === null && span !== ''
    if (!isNone && !(isTime(start) && isTime(end) && isSpan(took)))
      problems.push(`timing ${span}: ${String(start)} ${String(end)} ${String(took)}`)
  }
  for (const { id, name, arguments: given } of list(data.tool_calls))
    if (typeof id !== 'string' || typeof name !== 'string' || !isObject(given)) problems.push('call')
  for (const { text, source, detail } of list(data.content)) {
    const { url, data: bytes, media_type: media } = object(source)
    const isBytes = typeof object(bytes).__kcs_bytes__ === 'string' && typeof media === 'string'
    if (text === undefined && typeof url !== 'string' && !isBytes) problems.push('image')
    if (text === undefined && !['auto', 'low', 'high'].includes(String(detail))) problems.push('image')
  }
  if (usage === null) return problems
  const { input_tokens: input, output_tokens: output, ...parts } = object(usage)
  const { cache_read_tokens: read, cache_write_tokens: write, reasoning_tokens: thought } = parts
  const counts = [input, output, read, write, thought]
  if (kind !== 3 || !counts.every(isCount)) problems.push(`usage ${counts.join()}`)
  if (Number(read) + Number(write) > Number(input) || Number(thought) > Number(output)) problems.push('usage')
  return problems
}

export const strictly: Readonly<Record<string, (files: Files) => Problems>> = {
  claude,
  pi,
  codex,
  deepcode,
  zettcode,
}
