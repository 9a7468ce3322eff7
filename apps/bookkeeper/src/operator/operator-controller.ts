import { applyDecorators, Controller, UseFilters, UseInterceptors, UsePipes } from '@nestjs/common';
import { CHECK_REQUEST } from '@tollgate/common';

import { AuditTrail } from './audit-trail.js';
import { OperatorErrorFilter } from './operator-error.filter.js';

/**
 * A controller of the operator API below `/operator`: checks what is sent, records each write before it is done, and
 * answers errors as problems.
 */
export function OperatorController(path = ''): ClassDecorator {
  return applyDecorators(
    Controller(path === '' ? 'operator' : `operator/${path}`),
    UseFilters(OperatorErrorFilter),
    UsePipes(CHECK_REQUEST),
    UseInterceptors(AuditTrail),
  );
}
