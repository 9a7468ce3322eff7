import { Setting, type ChecksEntries } from '@tollgate/config';
import { IsArray, IsBoolean } from 'class-validator';

const NAME = /^(?=.*[a-z\d])[\w-]+$/i;

/** What the book gets of a sale's query. Its path is always told. */
export class BookedQueryEnvironment implements ChecksEntries {
  @Setting({ help: 'With BOOK=on, whether the book gets the query of each sale too.' })
  @IsBoolean()
  readonly bookQuery: boolean = false;

  @Setting({
    help: 'Parameters that BOOK_QUERY leaves out, comma separated: each whose name is or ends with one of these, in any case, with or without - and _.',
  })
  @IsArray()
  readonly bookQueryWithout: string[] = [
    ...['key', 'token', 'secret', 'password', 'passwd', 'pwd', 'signature', 'sig', 'auth', 'authorization'],
    ...['credential', 'session', 'sessionid', 'jwt', 'otp'],
  ];

  problemsOfEntries(): string[] {
    const wrong = this.bookQueryWithout.filter((name) => !NAME.test(name));
    return wrong.map((name) => `BOOK_QUERY_WITHOUT: "${name}" is not a name: letters and digits, maybe with - and _.`);
  }
}
