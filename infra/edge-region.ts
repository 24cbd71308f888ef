/** CloudFront takes certificates and rules from this region only. */
export const edgeRegion = 'us-east-1'
