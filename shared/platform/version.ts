import packaged from '../../package.json' with { type: 'json' }

/** The version of Unit Guard. A bundle contains only this member of the file. */
export const { version } = packaged
