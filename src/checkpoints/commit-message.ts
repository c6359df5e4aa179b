import type { FileRecord } from '../events/file-record.js'

const maxSubject = 72
const maxListed = 50

/** What `git log` shows of a checkpoint: why it was taken and which files changed, then trailers for programs. */
export const commitMessage = (
  {
    reason,
    session,
    toolCallId,
  }: { readonly reason: string; readonly session: string; readonly toolCallId?: string },
  files: readonly FileRecord[],
): string => {
  const names = files.map(({ path }) => path.slice(path.indexOf('/') + 1))
  const listed = files.slice(0, maxListed).map((file) => `${signOf(file)} ${plain(file.path)}`)
  const more = files.length > maxListed ? [`and ${files.length - maxListed} more`] : []
  const call = toolCallId === undefined ? [] : [`Tool-Call: ${plain(toolCallId)}`]
  return [
    cut(`${reason}: ${names.slice(0, 5).map(plain).join(', ')}${names.length > 5 ? ', …' : ''}`),
    '',
    ...listed,
    ...more,
    '',
    `Session: ${session}`,
    ...call,
  ].join('\n')
}

const signOf = ({ kind }: FileRecord): string => (kind === 'absent' ? '-' : '+')

/** A name with a newline in it stays on one line, and no line begins a trailer. */
const plain = (name: string): string => (/[\p{Cc}]/u.test(name) ? JSON.stringify(name) : name)

const cut = (line: string): string => {
  const points = [...line]
  return points.length <= maxSubject ? line : `${points.slice(0, maxSubject - 1).join('')}…`
}
