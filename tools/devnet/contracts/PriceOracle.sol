// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

/// @title The devnet's prices in USD
/// @notice One price per asset, set by the owner alone; the lending markets and the perps exchange read the same.
contract PriceOracle is Ownable {
    struct Underlying {
        string asset;
        uint8 decimals;
    }

    /// @notice The lending protocol checks this flag before it accepts an oracle.
    bool public constant isPriceOracle = true;

    mapping(string asset => uint256) private _prices;
    mapping(address market => Underlying) private _underlyings;

    event PriceSet(string asset, uint256 price);

    /// @notice A price of zero would make all debt free.
    error PriceIsZero(string asset);

    constructor() Ownable(msg.sender) {}

    /// @notice Sets an asset's price.
    /// @param asset Its symbol, like "BTC".
    /// @param price USD per whole unit, times 1e18.
    function setPrice(string calldata asset, uint256 price) external onlyOwner {
        require(price > 0, PriceIsZero(asset));
        _prices[asset] = price;
        emit PriceSet(asset, price);
    }

    /// @notice Sets the asset that a lending market lends.
    /// @param market The cToken.
    /// @param asset The symbol under which its price is set.
    /// @param decimals The decimals of the market's underlying token.
    function setUnderlying(address market, string calldata asset, uint8 decimals) external onlyOwner {
        _underlyings[market] = Underlying(asset, decimals);
    }

    /// @notice USD per whole unit, times 1e18; 0 when there is no price.
    function priceOf(string calldata asset) external view returns (uint256) {
        return _prices[asset];
    }

    /// @notice The price of a market's underlying token: USD per base unit, times 1e36; 0, which lending refuses, when unknown.
    function getUnderlyingPrice(address market) external view returns (uint256) {
        Underlying storage underlying = _underlyings[market];
        return (_prices[underlying.asset] * 1e18) / 10 ** underlying.decimals;
    }
}
