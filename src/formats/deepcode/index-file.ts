import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isObject, type Json } from '../remainder.js'
import type { Remarks } from '../remarks.js'
import { projectCode } from './project-code.js'

/** What `sessions-index.json` says of one session; the index may be lost, torn, or lack it. */
export interface Indexed {
  readonly workspace: string | null
  readonly entry: Json | null
}

/** The index of a session's project. */
export const indexOf = (source: string): string => join(dirname(source), 'sessions-index.json')

export const indexed = async (source: string, session: string, remarks: Remarks): Promise<Indexed> => {
  const index = parse(await readFile(indexOf(source), 'utf8').catch(() => null))
  if (index === null) {
    remarks.add(
      session,
      'sessions-index.json is missing or cannot be read: no workspace, title or status from it',
    )
    return { workspace: null, entry: null }
  }
  const entries = Array.isArray(index.entries) ? index.entries : []
  const entry = entries.find((one): one is Json => isObject(one) && one.id === session) ?? null
  if (entry === null)
    remarks.add(session, 'sessions-index.json does not list the session: no title or status from it')
  const root = index.originalPath
  const isIts = typeof root === 'string' && projectCode(root) === basename(dirname(source))
  if (!isIts) remarks.add(session, "the index names no path that fits the folder's name: no workspace")
  return { workspace: isIts ? root : null, entry }
}

const parse = (text: string | null): Json | null => {
  try {
    const value: unknown = JSON.parse((text ?? '').replace(/^\uFEFF/, ''))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
