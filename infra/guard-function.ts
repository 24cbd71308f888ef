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

/** Findings of cdk-nag that are as they should be, for this construct and what is in it, each with its reason. */
export function acknowledge(construct: Construct, reasons: Readonly<Record<string, string>>): void {
  const rules = Object.entries(reasons).map(([id, reason]) => ({ id, reason }))
  Validations.of(construct).acknowledge(...rules)
}

export interface GuardFunctionProps {
  readonly description: string
  /** The folder of its bundle. */
  readonly code: string
  /** The export that is called. */
  readonly entry?: string
  readonly memoryMb: number
  readonly timeout: Duration
  readonly environment?: Readonly<Record<string, string>>
  readonly logGroup: ILogGroup
  readonly reservedConcurrency?: number | undefined
}

/** One Lambda function with a role of its own, which may write its log and nothing else until something is bound to it. */
export class GuardFunction extends Construct {
  readonly lambda: Lambda

  constructor(scope: Construct, id: string, props: GuardFunctionProps) {
    super(scope, id)
    // Not the managed policy, which lets a function write everybody's logs.
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
      environment: { NODE_OPTIONS: '--enable-source-maps', ...props.environment },
      role,
      logGroup: props.logGroup,
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
    })
    acknowledge(this, {
      'Serverless-LambdaTracing':
        'Every line of the log carries the id of its request and update, and each update keeps its own history; traces would tell nothing more, and cost more than the function',
      'Serverless-LambdaDLQ':
        'A dead-letter queue of a function is for asynchronous calls; the one function that has these keeps them by a destination, which tells more',
    })
  }

  allow(actions: readonly string[], resources: readonly string[], conditions?: Record<string, object>): void {
    const statement = { actions: [...actions], resources: [...resources], ...(conditions && { conditions }) }
    this.lambda.addToRolePolicy(new PolicyStatement(statement))
  }

  set(name: string, value: string): void {
    this.lambda.addEnvironment(name, value)
  }

  /** An address for everyone: the caller shows a token, or Slack's signature, and the function itself verifies it. */
  openUrl({ streams }: { streams: boolean }): FunctionUrl {
    return this.lambda.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      invokeMode: streams ? InvokeMode.RESPONSE_STREAM : InvokeMode.BUFFERED,
    })
  }
}
