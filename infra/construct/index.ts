export { Edge, type EdgeProps } from '../edge/edge.ts'
export type { UnitGuardProps } from '../props.ts'
export { UnitGuard } from '../unit-guard.ts'
