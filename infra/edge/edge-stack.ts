import { CfnOutput, Stack } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { edgeRegion } from '../props.ts'
import { Edge, type EdgeProps } from './edge.ts'

export class EdgeStack extends Stack {
  constructor(scope: Construct, id: string, { stackName, ...props }: EdgeProps & { readonly stackName: string }) {
    super(scope, id, {
      stackName,
      env: { region: edgeRegion },
      description: 'Unit Guard: the address of all its functions',
      terminationProtection: true,
    })
    const { distribution } = new Edge(this, 'Default', props)
    const outputs = { EdgeUrl: `https://${props.domain}`, DistributionDomain: distribution.distributionDomainName }
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value })
  }
}
