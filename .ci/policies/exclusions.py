"""What the narrowed execution policies leave out of AWS's lists, and what they have besides them.

Each row of `EXCLUDED` names calls of a type of resource, and the properties that need them. A template that sets such a
property fails. So does a row that is not needed any more.
"""

KMS = ('kms:CreateGrant', 'kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey')

# (type, calls, properties)
EXCLUDED = (
    ('AWS::Budgets::Budget', ('billing:GetBillingViewData',), ('Budget/BillingViewArn',)),
    (
        'AWS::CertificateManager::Certificate',
        ('acm-pca:GetCertificate', 'acm-pca:IssueCertificate'),
        ('CertificateAuthorityArn',),
    ),
    (
        'AWS::CertificateManager::Certificate',
        ('acm:UpdateCertificateOptions',),
        ('CertificateExport', 'CertificateTransparencyLoggingPreference'),
    ),
    (
        'AWS::CloudFront::Distribution',
        ('cloudfront:CreateConnectionGroup', 'cloudfront:GetConnectionGroup'),
        ('DistributionConfig/ConnectionMode', 'DistributionConfig/TenantConfig'),
    ),
    ('AWS::CloudFront::Distribution', ('cloudfront:GetVpcOrigin',), ('DistributionConfig/Origins/*/VpcOriginConfig',)),
    (
        'AWS::CloudFront::Distribution',
        ('cloudfront:UpdateDistributionWithStagingConfig',),
        ('DistributionConfig/ContinuousDeploymentPolicyId', 'DistributionConfig/Staging'),
    ),
    (
        'AWS::DynamoDB::Table',
        ('dynamodb:ImportTable', 'logs:CreateLogStream', 'logs:DescribeLogStreams', 'logs:PutLogEvents')
        + ('s3:ListBucket',),
        ('ImportSourceSpecification',),
    ),
    (
        'AWS::DynamoDB::Table',
        ('dynamodb:DisableKinesisStreamingDestination', 'dynamodb:EnableKinesisStreamingDestination')
        + ('dynamodb:UpdateKinesisStreamingDestination', 'kinesis:DescribeStream', 'kinesis:PutRecords'),
        ('KinesisStreamSpecification',),
    ),
    ('AWS::DynamoDB::Table', ('dynamodb:UpdateContributorInsights',), ('ContributorInsightsSpecification',)),
    (
        'AWS::DynamoDB::Table',
        ('dynamodb:DeleteResourcePolicy', 'dynamodb:PutResourcePolicy'),
        ('ResourcePolicy', 'StreamSpecification/ResourcePolicy'),
    ),
    (
        'AWS::DynamoDB::Table',
        ('kms:CreateGrant', 'kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:ListAliases', 'kms:RevokeGrant'),
        ('SSESpecification/KMSMasterKeyId',),
    ),
    ('AWS::IAM::Policy', ('iam:DeleteGroupPolicy', 'iam:GetGroupPolicy', 'iam:PutGroupPolicy'), ('Groups',)),
    ('AWS::IAM::Policy', ('iam:DeleteUserPolicy', 'iam:GetUserPolicy', 'iam:PutUserPolicy'), ('Users',)),
    ('AWS::IAM::Role', ('iam:AttachRolePolicy', 'iam:DetachRolePolicy'), ('ManagedPolicyArns',)),
    (
        'AWS::IAM::Role',
        ('iam:DeleteRolePermissionsBoundary', 'iam:PutRolePermissionsBoundary'),
        ('PermissionsBoundary',),
    ),
    ('AWS::Lambda::EventSourceMapping', ('kms:Decrypt', 'kms:DescribeKey', 'kms:GenerateDataKey'), ('KmsKeyArn',)),
    (
        'AWS::Lambda::Function',
        ('ec2:DescribeNetworkInterfaces', 'ec2:DescribeSecurityGroups', 'ec2:DescribeSubnets', 'ec2:DescribeVpcs'),
        ('VpcConfig',),
    ),
    (
        'AWS::Lambda::Function',
        ('elasticfilesystem:DescribeMountTargets', 's3files:ListMountTargets'),
        ('FileSystemConfigs',),
    ),
    ('AWS::Lambda::Function', KMS, ('Code/SourceKMSKeyArn', 'KmsKeyArn')),
    (
        'AWS::Lambda::Function',
        ('lambda:DeleteFunctionCodeSigningConfig', 'lambda:GetCodeSigningConfig')
        + ('lambda:PutFunctionCodeSigningConfig',),
        ('CodeSigningConfigArn',),
    ),
    ('AWS::Lambda::Function', ('lambda:GetLayerVersion',), ('Layers',)),
    (
        'AWS::Lambda::Function',
        ('lambda:PassCapacityProvider', 'lambda:PutFunctionScalingConfig'),
        ('CapacityProviderConfig', 'FunctionScalingConfig'),
    ),
    ('AWS::Lambda::Function', ('lambda:PublishVersion',), ('PublishToLatestPublished', 'SnapStart')),
    ('AWS::Lambda::Function', ('lambda:PutFunctionRecursionConfig',), ('RecursiveLoop',)),
    ('AWS::Lambda::Function', ('lambda:PutRuntimeManagementConfig',), ('RuntimeManagementConfig',)),
    (
        'AWS::Logs::LogGroup',
        ('firehose:TagDeliveryStream', 'logs:CreateLogDelivery', 'logs:DeleteDataProtectionPolicy')
        + ('logs:PutDataProtectionPolicy',),
        ('DataProtectionPolicy',),
    ),
    ('AWS::Logs::LogGroup', ('logs:DeleteIndexPolicy', 'logs:PutIndexPolicy'), ('FieldIndexPolicies',)),
    ('AWS::Logs::LogGroup', ('logs:DeleteResourcePolicy', 'logs:PutResourcePolicy'), ('ResourcePolicyDocument',)),
    ('AWS::Logs::LogGroup', ('logs:PutBearerTokenAuthentication',), ('BearerTokenAuthenticationEnabled',)),
    ('AWS::Logs::LogGroup', ('logs:AssociateKmsKey', 'logs:DisassociateKmsKey'), ('KmsKeyId',)),
    ('AWS::Logs::LogGroup', ('logs:PutLogGroupDeletionProtection',), ('DeletionProtectionEnabled',)),
    ('AWS::SNS::Topic', ('sns:PutDataProtectionPolicy',), ('DataProtectionPolicy',)),
    ('AWS::WAFv2::WebACL', ('payments:GetConnectedAccount',), ('MonetizationConfig',)),
    (
        'AWS::DynamoDB::Table',
        ('dynamodb:AssociateTableReplica', 'dynamodb:BatchWriteItem', 'dynamodb:CreateTableReplica')
        + ('dynamodb:DeleteItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:Scan')
        + ('dynamodb:UpdateItem',),
        ('AWS::DynamoDB::GlobalTable:Replicas',),
    ),
    (
        'AWS::DynamoDB::Table',
        ('iam:CreateServiceLinkedRole',),
        ('AWS::DynamoDB::GlobalTable:Replicas', 'ContributorInsightsSpecification', 'KinesisStreamSpecification'),
    ),
)

# Calls in AWS's lists that are not actions of IAM.
UNGRANTABLE = (
    'cloudfront:CreateDistributionWithTags',
    'lambda:AssociateRuntimeAlias',
    's3:GetObjectMetadata',
    's3:REST.PUT.OBJECT',
)

# Statements with an action that no schema lists, for each policy, and what needs them.
BESIDES = {
    'app-execution-policy.json': {
        'KeyOfSecrets': 'https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html',
    },
    'execution-policy.json': {'BootstrapVersion': 'a parameter of each stack'},
    'edge-execution-policy.json': {
        'AddressesOfFunctions': 'Fn::GetStackOutput',
        'BootstrapVersion': 'a parameter of each stack',
        'OriginHeader': 'a dynamic reference',
    },
}

# Conditions that AWS documents although the reference does not list the key for the action.
DOCUMENTED = {
    ('kms:EncryptionContext:aws:logs:arn', 'kms:Describe*'): (
        'https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html'
    ),
}
