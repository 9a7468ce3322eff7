/**
 * The parts of a fetch answer that a test gets. `readReceipt` gets a reader of headers and decodes with the package's
 * own code.
 */
export async function readAnswer(response, readReceipt) {
  const body = await response.text();
  return { status: response.status, body, receipt: readReceipt((name) => response.headers.get(name)) || null };
}

/** Reads the answer to an axios request, which throws for statuses other than 2xx and has parsed JSON already. */
export async function readAxiosAnswer(sending, readReceipt) {
  const response = await sending.catch((error) => {
    if (error.response) return error.response;
    throw error;
  });
  const body = typeof response.data === 'string' ? response.data : JSON.stringify(response.data);
  return { status: response.status, body, receipt: readReceipt((name) => response.headers.get(name)) || null };
}

export const axiosRequest = (url, { method = 'GET', headers = {}, body }) => ({ url, method, headers, data: body });
