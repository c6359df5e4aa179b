/**
 * What a search of the workspace leaves out whatever `.gitignore` says: folders of version control (INV-9: never touched).
 * In the syntax of `.gitignore`.
 */
export const versionControl = ['.git', '.hg', '.svn', '.jj', '.bzr', 'CVS', '_darcs', '.pijul', '.sl']

/** What it leaves out unless a `.gitignore` says otherwise: dependencies, what is built from other files, and caches. */
export const madeByTools = [
  // dependencies
  'node_modules/',
  'bower_components/',
  'jspm_packages/',
  '.pnpm-store/',
  '.yarn/cache/',
  '.venv/',
  'venv/',
  'site-packages/',
  'Pods/',
  'Carthage/',
  '.bundle/',
  'elm-stuff/',
  '.dart_tool/',
  // build outputs
  'dist/',
  'build/',
  'out/',
  'target/',
  '.next/',
  '.nuxt/',
  '.output/',
  '.svelte-kit/',
  '.angular/',
  '.gradle/',
  '.stack-work/',
  'dist-newstyle/',
  '_build/',
  'DerivedData/',
  'cmake-build-*/',
  'bazel-*',
  '*.egg-info/',
  '*.pyc',
  '*.class',
  '*.o',
  '*.obj',
  // caches and what systems leave
  '__pycache__/',
  '.tox/',
  '.nox/',
  '.mypy_cache/',
  '.pytest_cache/',
  '.ruff_cache/',
  '.cache/',
  '.parcel-cache/',
  '.turbo/',
  '.terraform/',
  'coverage/',
  '.nyc_output/',
  '.DS_Store',
  'Thumbs.db',
  // our own, in the middle of a restore
  '.coppice-*',
]
