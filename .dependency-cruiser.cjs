/** Dependencies point one way (docs/ARCHITECTURE.md): cli, shell → session → projections → events. */
const beside = 'checkpoints|formats|postgres|export'
const surface = 'index|testing'

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'events-know-nothing-above',
      severity: 'error',
      from: { path: '^src/events/' },
      to: { path: `^src/((projections|session|${beside}|cli|shell)/|(${surface})[.]ts$)` },
    },
    {
      name: 'projections-know-only-events',
      severity: 'error',
      from: { path: '^src/projections/' },
      to: { path: `^src/((session|${beside}|cli|shell)/|(${surface})[.]ts$)` },
    },
    {
      name: 'projections-are-pure',
      comment: 'INV-10: time, randomness and I/O come in as values.',
      severity: 'error',
      from: { path: '^src/projections/' },
      to: {
        path: '^(node:)?(fs|os|child_process|net|http|https|timers|process|worker_threads)(/|$)|/fs-(extra|native-extensions)/',
      },
    },
    {
      name: 'beside-the-session',
      comment: 'Checkpoints, formats, stores and exports know events, not the session.',
      severity: 'error',
      from: { path: `^src/(${beside})/` },
      to: { path: `^src/((session|cli|shell)/|(${surface})[.]ts$)` },
    },
    {
      name: 'only-export-knows-projections',
      severity: 'error',
      from: { path: '^src/(checkpoints|formats|postgres)/' },
      to: { path: '^src/projections/' },
    },
    {
      name: 'beside-each-other',
      severity: 'error',
      from: { path: `^src/(${beside})/` },
      to: { path: `^src/(${beside})/`, pathNot: '^src/$1/' },
    },
    {
      name: 'nothing-knows-the-cli',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'only-the-cli-knows-the-shell',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|shell)/' },
      to: { path: '^src/shell/' },
    },
    {
      name: 'src-stands-alone',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'library-needs-no-dev-dependency',
      comment:
        'src/cli, src/shell and src/export are bundled, and src/testing has fast-check as a peer: what else the library imports must be a run-time dependency.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|shell|export|testing)/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        // Secretlint is bundled into a chunk that loads on first use; no public type names it.
        pathNot: '/node_modules/@types/|^node_modules/(@types|@secretlint)/',
      },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    // Type-only imports are dependencies too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
}
