export {
  type ImportOptions,
  type ImportReport,
  importSources,
  type Source,
} from './import/import.js'
