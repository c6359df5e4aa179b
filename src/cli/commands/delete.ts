import type { Run } from '../context.js'
import { archive } from '../to-archive.js'

export const run: Run = (context, [name = '']) => archive(context, name, 'delete')
