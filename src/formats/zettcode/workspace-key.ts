import { sha256 } from '../../events/id.js'

const hashedLength = 120

/** The path that a ZettCode workspace folder is named after (URL-safe base64); null where the name is hashed, or none. */
export const workspaceOf = (key: string): string | null => {
  if (key.length >= hashedLength || !/^[A-Za-z0-9_-]+$/.test(key)) return null
  const path = Buffer.from(key, 'base64url').toString()
  const isPath = path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)
  return isPath && Buffer.from(path).toString('base64url') === key ? path : null
}

/** The name of a workspace's folder: its path in URL-safe base64, hashed where that is too long. */
export const workspaceKey = (path: string): string => {
  const key = Buffer.from(path).toString('base64url')
  if (key.length <= hashedLength) return key
  return `${key.slice(0, hashedLength - 13)}-${sha256(key).slice(0, 12)}`
}
