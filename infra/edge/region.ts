/** CloudFront takes certificates and rules from there only. */
export const edgeRegion = 'us-east-1'
