import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { NotFound } from '../events/errors/not-found.js'
import type { Context } from './context.js'
import { FileFailed } from './errors/file-failed.js'
import { Usage } from './errors/usage.js'
import { safeName } from './safe-text.js'

/** The text of a file that the command line names; `-` is stdin. */
export const textOf = async (context: Context, name: string): Promise<string> => {
  const bytes = name === '-' ? await allOf(context.input) : await fileBytes(resolve(context.cwd, name))
  if (!isUtf8(bytes)) throw new Usage('the text is no UTF-8', name, 'save it as UTF-8')
  return bytes.toString('utf8')
}

const fileBytes = (path: string): Promise<Buffer> =>
  readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new NotFound('file', safeName(path), '', 'check the path')
    throw new FileFailed('the file cannot be read', path, error)
  })

const allOf = async (input: AsyncIterable<unknown>): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of input) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks)
}
