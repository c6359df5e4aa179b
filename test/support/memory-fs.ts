export { failing, type Operation, systemError } from '../../src/testing/memory-file.js'
export { MemoryFs } from '../../src/testing/memory-fs.js'
