/** Media type of RFC 9457 problem details. */
export const PROBLEM_JSON = 'application/problem+json; charset=utf-8';

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Stable; for programs. */
  code: string;
  requestId?: string;
}

export interface ProblemFacts {
  status: number;
  code: string;
  /** One sentence: the cause and the next step. */
  detail: string;
  title?: string;
  requestId?: string | undefined;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** The body of every error that is not a challenge. */
export function createProblem({ status, code, detail, title, requestId }: ProblemFacts): Problem {
  return {
    type: 'about:blank',
    title: title ?? TITLES[status] ?? 'Error',
    status,
    detail,
    code,
    ...(requestId === undefined ? {} : { requestId }),
  };
}
