export { type ImportOptions, importSources } from './import/import.js'
export type { Failure, ImportReport } from './import/report.js'
export type { Source } from './import/source.js'
