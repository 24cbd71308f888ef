import { LayerVersion, Tracing } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

/** AWS's layer of OpenTelemetry for Node.js: https://aws-otel.github.io/docs/getting-started/lambda */
export const tracedBy = (scope: Construct, layerVersion: string) => ({
  layers: [LayerVersion.fromLayerVersionArn(scope, 'Adot', layerVersion)],
  tracing: Tracing.ACTIVE,
})

export const adotEnvironment = {
  AWS_LAMBDA_EXEC_WRAPPER: '/opt/otel-instrument',
  // The layer's default passes trace headers and baggage of callers on to the service.
  OTEL_PROPAGATORS: 'xray-lambda',
  // On by default in the layer; it needs more rights and has a price of its own.
  OTEL_AWS_APPLICATION_SIGNALS_ENABLED: 'false',
}

export const isLayerVersion = (arn: string): boolean => /^arn:[\w-]+:lambda:[\w-]+:\d{12}:layer:[\w-]+:\d+$/.test(arn)
