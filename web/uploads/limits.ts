/** Source: contract, "Media requirements". The server may allow less, and reports that when the upload is created. */
export const maxUploadBytes = 4_294_967_296;
