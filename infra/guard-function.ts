import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  Architecture,
  Code,
  type FunctionUrl,
  FunctionUrlAuthType,
  InvokeMode,
  Function as Lambda,
  Runtime,
} from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { type Duration, Validations } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'

export function acknowledge(construct: Construct, reasons: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })))
}

export interface GuardFunctionProps {
  readonly description: string
  readonly code: string
  readonly entry?: string
  readonly memoryMb: number
  readonly timeout: Duration
  readonly environment?: Readonly<Record<string, string>>
  readonly logGroup: ILogGroup
  readonly reservedConcurrency?: number | undefined
}

/** A function whose role may only write the log, until `allow` adds more. */
export class GuardFunction extends Construct {
  readonly lambda: Lambda
  hasUrl = false

  constructor(scope: Construct, id: string, props: GuardFunctionProps) {
    super(scope, id)
    // The managed policy would let the function write the logs of every function.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    props.logGroup.grantWrite(role)
    this.lambda = new Lambda(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(props.code),
      handler: `index.${props.entry ?? 'handler'}`,
      memorySize: props.memoryMb,
      timeout: props.timeout,
      ...(props.environment && { environment: props.environment }),
      role,
      logGroup: props.logGroup,
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
    })
    acknowledge(this, {
      'Serverless-LambdaTracing': 'Log lines carry the ids of the request and the update',
      'Serverless-LambdaDLQ': 'Only the scheduled function is called asynchronously, and it has a failure destination',
    })
  }

  allow(
    actions: readonly string[],
    resources: readonly string[],
    conditions?: Record<string, object> | undefined,
  ): void {
    const statement = { actions: [...actions], resources: [...resources], ...(conditions && { conditions }) }
    this.lambda.addToRolePolicy(new PolicyStatement(statement))
  }

  set(name: string, value: string): void {
    this.lambda.addEnvironment(name, value)
  }

  /** Public: the function itself verifies a token or a signature. */
  openUrl({ streams }: { streams: boolean }): FunctionUrl {
    this.hasUrl = true
    return this.lambda.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      invokeMode: streams ? InvokeMode.RESPONSE_STREAM : InvokeMode.BUFFERED,
    })
  }
}
