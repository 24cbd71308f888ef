import { chosen } from './parts.js'

export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.js', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // A slow test on a busy machine must not count as a killed mutant.
  timeoutMS: 30_000,
  mutate: chosen.mutate,
  ignorePatterns: ['cdk.out', 'build', 'dist', '.local'],
  // Stryker would rewrite tsconfig.json with a TypeScript before 7.
  tsconfigFile: 'none',
  tempDirName: 'node_modules/.cache/stryker',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false },
  // Every test sees code that runs once at load, so its mutants would run all tests.
  ignoreStatic: true,
  thresholds: { high: 95, low: 90, break: 90 },
}
