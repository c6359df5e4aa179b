const hashedLength = 120

/** The path that a ZettCode workspace folder is named after (URL-safe base64); null where the name is hashed, or none. */
export const workspaceOf = (key: string): string | null => {
  if (key.length >= hashedLength || !/^[A-Za-z0-9_-]+$/.test(key)) return null
  const path = Buffer.from(key, 'base64url').toString()
  const isPath = path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)
  return isPath && Buffer.from(path).toString('base64url') === key ? path : null
}
