import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import type { BlobRef } from '../events/content.js'
import { Moved, NotFound } from '../events/errors/index.js'
import { sha256 } from '../events/id.js'
import type { Law } from './law.js'
import { create, right, rootLine } from './lines.js'

/** Values beside the events. */
export const blobLaws: readonly Law[] = [
  {
    name: 'a blob comes back as it was put, is stored once, and one that is not there is NotFound',
    check: async (log) => {
      const root = await create(log, 'j')
      const bytes = Buffer.from('a large value')
      const ref = (name: string): BlobRef => ({ $blob: name, bytes: bytes.length, as: 'text' })
      const blobs = new Map([[sha256(bytes), bytes]])
      right(await log.blobs.put(root.id, blobs)())
      right(await log.blobs.put(root.id, blobs)())
      strictEqual((await log.blobs.get(root.id, ref(sha256(bytes)))).toString(), 'a large value')
      deepStrictEqual(log.blobs.list(root.id), [sha256(bytes)])
      const missing = await log.blobs.get(root.id, ref(sha256('nothing'))).catch((error: unknown) => error)
      strictEqual(missing instanceof NotFound, true)
    },
  },
  {
    name: 'the blobs that a session is made with are there from its first moment on',
    check: async (log) => {
      const root = rootLine('j2')
      const bytes = Buffer.from([0, 255, 10, 13])
      right(await log.create([root], 'sync', new Map([[sha256(bytes), bytes]]))())
      const ref: BlobRef = { $blob: sha256(bytes), bytes: bytes.length, as: 'base64' }
      deepStrictEqual([...(await log.blobs.get(root.id, ref))], [0, 255, 10, 13])
      deepStrictEqual(log.blobs.list(root.id), [sha256(bytes)])
    },
  },
  {
    name: "a blob of one session is no other one's, and none goes to a session that is not there",
    check: async (log) => {
      const [a, b] = [await create(log, 'j3'), await create(log, 'j4')]
      const bytes = Buffer.from('mine')
      const blobs = new Map([[sha256(bytes), bytes]])
      right(await log.blobs.put(a.id, blobs)())
      deepStrictEqual(log.blobs.list(b.id), [])
      const nowhere = await log.blobs.put(rootLine('j5').id, blobs)()
      strictEqual(E.isLeft(nowhere) && nowhere.left instanceof Moved, true)
      deepStrictEqual([...log.sessions()].sort(), [a.id, b.id].sort())
    },
  },
]
