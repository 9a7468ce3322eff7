import { Setting } from '@tollgate/config';
import { IsIn, IsLatitude, IsLongitude, IsNotEmpty, IsOptional, IsUrl, Matches } from 'class-validator';

const WEATHER_SOURCES = ['sample', 'open-meteo', 'off'] as const;
export type WeatherSourceName = (typeof WEATHER_SOURCES)[number];

export class WeatherEnvironment {
  @Setting({ help: 'Price of GET /api/weather in the asset.' })
  @Matches(/^\d+(\.\d+)?$/, { message: '$property must be a decimal number such as 0.001' })
  readonly weatherPrice: string = '0.001';

  @Setting({
    help: 'off: no weather is sold, the default with ROUTES_FILE; sample, the default without: invented, needs no network; open-meteo: the weather service.',
  })
  @IsOptional()
  @IsIn(WEATHER_SOURCES)
  readonly weatherSource?: WeatherSourceName;

  @Setting({
    help: 'Base URL of the weather service, if not the public one.',
    example: 'https://api.open-meteo.com',
  })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly weatherUrl?: string;

  @Setting({ help: 'Name of the place.' })
  @IsNotEmpty()
  readonly weatherLocation: string = 'San Francisco';

  @Setting({ help: 'Latitude of the place in degrees.' })
  @IsLatitude()
  readonly weatherLatitude: number = 37.7749;

  @Setting({ help: 'Longitude of the place in degrees.' })
  @IsLongitude()
  readonly weatherLongitude: number = -122.4194;
}
