import * as t from 'io-ts'
import { Content, Finite, Origin, Reasoning, Text, Timing, ToolCall, Usage } from './content.js'

/** The first 32 hex digits of a SHA-256, see id.ts. */
export type EventId = string

const EventRef = t.refinement(t.string, (text) => /^[0-9a-f]{32}$/.test(text), 'an event id (32 hex)')
/** Names are what an error says a member should be. */
const nullable = <C extends t.Mixed>(codec: C) =>
  t.union(
    [codec, t.null],
    `${codec.name === 'string' ? 'a string' : codec.name.replace(' or ', ', ')} or null`,
  )
const oneOf = <K extends string>(...names: K[]) =>
  t.keyof(
    Object.fromEntries(names.map((name) => [name, null])) as Record<K, null>,
    `one of ${names.join(', ')}`,
  )
const SessionPoint = t.type({ session: EventRef, event: EventRef })

/** `workspace` and `cwd` are missing only where an imported root's source names none. */
export const Session = t.intersection([
  t.type({ format: t.literal(1), nonce: t.string }),
  t.partial({
    workspace: t.string,
    cwd: t.string,
    repo: t.partial({ firstCommit: t.string, remote: t.string, inside: t.string }),
    agent: t.unknown,
    forkedFrom: SessionPoint,
    startedBy: SessionPoint,
    track: oneOf('edits', 'workspace'),
    origin: Origin,
  }),
])

export const Message = t.intersection([
  t.type({ role: oneOf('system', 'user', 'assistant', 'tool'), content: nullable(Content) }),
  t.partial({
    toolCalls: t.array(ToolCall),
    toolCallId: t.string,
    ok: t.boolean,
    reasoning: Reasoning,
    replay: t.unknown,
    refusal: Text,
    model: t.string,
    provider: t.string,
    usage: Usage,
    timing: Timing,
    stop: t.string,
    group: t.string,
    visible: t.boolean,
    context: t.boolean,
    aside: t.boolean,
    meta: t.unknown,
    origin: Origin,
  }),
])

export const Compaction = t.intersection([
  t.type({ summary: Content, through: EventRef }),
  t.partial({
    keep: t.array(t.type({ id: EventRef, message: t.UnknownRecord })),
    trigger: t.string,
    model: t.string,
    prompt: Text,
    tokensBefore: Finite,
    tokensAfter: Finite,
    usage: Usage,
    origin: Origin,
  }),
])

const isBranchName = (name: string): boolean =>
  name.trim() !== '' && [...name].length <= 200 && !/^[0-9a-f]+$/i.test(name) && !/^@/.test(name)
export const BranchName = t.refinement(
  t.string,
  isBranchName,
  'a branch name (1 to 200 characters, not all hex, not beginning with @)',
)
export const Branch = t.intersection([
  t.type({ name: BranchName }),
  t.partial({ summary: Content, origin: Origin }),
])

export const FileChange = t.intersection([t.type({ path: t.string }), t.partial({ action: t.string })])
const Restored = t.type({
  checkpoint: nullable(EventRef),
  safety: nullable(EventRef),
  files: t.array(FileChange),
})

export const Head = t.intersection([
  t.type({
    to: EventRef,
    from: EventRef,
    reason: oneOf('undo', 'redo', 'checkout', 'branch'),
    row: t.UnknownRecord,
  }),
  t.partial({ restore: Restored, origin: Origin }),
])

export const Edit = t.intersection([
  t.type({ target: EventRef, replacement: nullable(Content) }),
  t.partial({ origin: Origin }),
])

export const Checkpoint = t.intersection([
  t.type({ reason: oneOf('prompt', 'before-tool', 'after-tool', 'safety', 'manual') }),
  t.partial({
    commit: t.string,
    files: t.unknown,
    scan: t.unknown,
    failed: t.string,
    toolCallId: t.string,
    origin: Origin,
  }),
])
export const Restore = t.intersection([Restored, t.partial({ origin: Origin })])
export const Custom = t.intersection([
  t.type({ name: t.string, data: t.unknown }),
  t.partial({ content: Content, origin: Origin }),
])

const isTitle = (title: string): boolean => title === title.trim() && title !== '' && [...title].length <= 200
export const Title = t.intersection([
  t.type({
    title: t.refinement(t.string, isTitle, 'a title (1 to 200 characters, trimmed)'),
    by: oneOf('user', 'auto', 'import'),
  }),
  t.partial({ origin: Origin }),
])

export const statuses = [
  'pending',
  'processing',
  'completed',
  'failed',
  'interrupted',
  'ask_permission',
  'waiting_for_user',
  'permission_denied',
] as const
export const Status = t.intersection([
  t.type({ status: oneOf(...statuses) }),
  t.partial({ reason: nullable(t.string), asks: t.unknown, origin: Origin }),
])
export const Tool = t.intersection([
  t.type({ toolCallId: t.string, state: oneOf('started', 'asked', 'allowed', 'denied') }),
  t.partial({ by: t.string, origin: Origin }),
])
export const Process = t.intersection([
  t.type({
    pid: Finite,
    startedAt: t.string,
    command: t.string,
    state: oneOf('started', 'exited', 'killed'),
  }),
  t.partial({ code: nullable(Finite), deadline: t.string, origin: Origin }),
])
export const Label = t.intersection([
  t.type({
    target: EventRef,
    label: nullable(
      t.refinement(
        t.string,
        (label) => label.trim() !== '' && [...label].length <= 200,
        'a label (1 to 200 characters)',
      ),
    ),
  }),
  t.partial({ origin: Origin }),
])
export const Request = t.intersection([
  t.type({ model: t.string }),
  t.partial({
    provider: t.string,
    params: t.unknown,
    tools: t.unknown,
    instructions: t.unknown,
    origin: Origin,
  }),
])
export const UsageNote = t.intersection([
  t.type({ for: oneOf('title', 'compaction', 'aside'), usage: Usage }),
  t.partial({ request: t.string, model: t.string, origin: Origin }),
])
export const Gap = t.type({ back: Finite, bytes: Finite, sha256: t.string })
export type Gap = t.TypeOf<typeof Gap>
export const Recovered = t.intersection([
  t.type({ gaps: t.array(Gap) }),
  t.partial({ orphans: t.array(EventRef) }),
])
const Rewrite = t.type({ ids: t.array(EventRef), reason: t.string })

/** The payload of every type of format 1. */
export const payloads = {
  session: Session,
  message: Message,
  compaction: Compaction,
  branch: Branch,
  head: Head,
  edit: Edit,
  checkpoint: Checkpoint,
  restore: Restore,
  custom: Custom,
  title: Title,
  status: Status,
  tool: Tool,
  process: Process,
  label: Label,
  request: Request,
  usage: UsageNote,
  recovered: Recovered,
  redaction: Rewrite,
  repaired: Rewrite,
} as const
export type EventType = keyof typeof payloads

/** Types that annotate a node: they never advance the head and never are a parent. */
export const noteTypes: ReadonlySet<string> = new Set([
  'title',
  'status',
  'tool',
  'process',
  'label',
  'request',
  'usage',
  'recovered',
  'redaction',
  'repaired',
])

export const isEventType = (type: string): type is EventType => Object.hasOwn(payloads, type)

/** What stands before the payload in every line. */
export interface Envelope {
  readonly id: EventId
  readonly parent: EventId | null
  readonly at: string
  readonly type: string
  readonly note?: true
}

type Payloads = { [K in EventType]: t.TypeOf<(typeof payloads)[K]> }

/** One event of a known type, as parsed from its line. */
export type EventOf<K extends EventType> = Envelope & { readonly type: K } & Readonly<Payloads[K]>

/**
 * An event as it stands in its line: large values as blob references, `$` keys escaped (see blob.ts). Its members
 * proved themselves by hash, not by shape: a fold must be total over any shape (use `is` and look before you reach).
 */
export type Event = Envelope & { readonly [member: string]: unknown }

/** Narrows by type. The payload of a proved line is trusted to be what the border validated; folds stay total all the same. */
export const is = <K extends EventType>(event: Event, type: K): event is EventOf<K> & Event =>
  event.type === type && event.redacted !== true

/** Whether an event moves the head: every one but notes. */
export const advancesHead = (event: Envelope): boolean => event.note !== true
