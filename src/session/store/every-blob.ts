import { blobRefs } from '../../events/blob.js'
import type { BlobRef } from '../../events/content.js'

/**
 * Loads every blob that a stored value names, and those that its `json` blobs name in turn, once each. `seen` holds what
 * was loaded before.
 */
export const loadEveryBlob = async (
  value: unknown,
  load: (ref: BlobRef) => Promise<Buffer>,
  seen: Set<string>,
): Promise<void> => {
  for (const ref of blobRefs(value)) {
    const key = `${ref.as} ${ref.$blob}`
    if (seen.has(key)) continue
    seen.add(key)
    const bytes = await load(ref)
    if (ref.as === 'json') await loadEveryBlob(JSON.parse(bytes.toString()), load, seen)
  }
}
