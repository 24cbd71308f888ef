/**
 * The AWS SDK announces at each start that it will want a newer Node some day, which does not help a user on one
 * machine. Imported for this alone, before the first client is made.
 */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
