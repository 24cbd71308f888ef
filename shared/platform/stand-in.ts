const anyAccessKey = 'local'

/**
 * The options of an AWS client for a stand-in at `endpoint`. Without one it is AWS itself, and the client finds region
 * and credentials by itself.
 *
 * @param accessKey the stand-ins of one machine know each other by it: the port is open to every user.
 */
export const standIn = (endpoint: string | undefined, accessKey = anyAccessKey) =>
  endpoint === undefined
    ? {}
    : { endpoint, region: 'local', credentials: { accessKeyId: accessKey, secretAccessKey: accessKey } }
