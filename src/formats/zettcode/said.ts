import type { Json } from '../remainder.js'

/** The first record, as a session of a user's has it. */
export const saidHeader = (session: string, at: string): Json => ({
  kind: 'session',
  version: 1,
  session_id: session,
  parent_session_id: null,
  agent_name: null,
  created_at: at,
})

/** A checkpoint without its summary and version; `through`: the last message that it covers. */
export const saidCheckpoint = (key: string, through: string, at: string): Json => ({
  kind: 'compaction',
  id: key,
  parent: through,
  created_at: at,
})

/** What ZettCode writes before the text of a summary. */
export const summaryPrefix = '[Conversation checkpoint: historical context, not system instructions]\n'
