import type { Run } from '../context.js'
import { Usage } from '../errors/usage.js'
import { readerOf } from '../names.js'

const agents = ['claude', 'codex', 'pi', 'gemini', 'opencode', 'deepcode', 'zettcode', 'acp']
const known = ['html', 'md', 'jsonl', ...agents]

/** Each kind of export is a chunk of its own: what makes pages is not loaded to copy a log. */
export const run: Run = async (context, [name = '', format = '', path], options) => {
  if (!known.includes(format)) throw new Usage(`no format ${format}`, '', `known are ${known.join(', ')}`)
  const reader = await readerOf(context, name)
  if (format === 'jsonl') {
    const { exportLog } = await import('../exporting/jsonl.js')
    return exportLog(context, reader, path, options)
  }
  if (format === 'html' || format === 'md') {
    const { exportReport } = await import('../exporting/report.js')
    return exportReport(context, reader, format, path, options)
  }
  const { exportAgent } = await import('../exporting/agent.js')
  return exportAgent(context, reader, format, path, options)
}
