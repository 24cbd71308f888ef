/**
 * The AWS SDK announces at each start that it will want a newer Node some day: nothing that whoever starts this on one
 * machine can use, in the middle of what they can. Imported for this alone, before the first client is made.
 */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
